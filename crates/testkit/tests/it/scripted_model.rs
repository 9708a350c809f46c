//! The scripted model.

use segue::Said;
use segue::prompt::Prompt;
use segue_testkit::{ModelError, ScriptedModel};

#[test]
fn it_says_its_script_and_then_that_it_ended() {
    let mut model = ScriptedModel::new().says_at(7, Said::text("one")).fails("down");
    assert_eq!(model.left(), 2);
    let said = model.answer(&Prompt::default()).unwrap();
    assert_eq!((said.blocks, said.usage.unwrap().input), (Said::text("one").blocks, Some(7)));
    assert_eq!(model.answer(&Prompt::default()), Err(ModelError::Scripted("down".to_owned())));
    let prompt = Prompt { blocks: vec!["x".to_owned()], ..Prompt::default() };
    assert_eq!(model.answer(&prompt), Err(ModelError::ScriptEnded(2)));
    assert_eq!((model.left(), model.asked().last()), (0, Some(&prompt)));
}
