//! Between Segue's prompts and answers and those of rig.

use anyhow::Context as _;
use rig_core::completion::message::{
    AssistantContent, AssistantMessage, CallId, Message, ToolName, ToolResultContent, UserContent,
};
use rig_core::completion::{CompletionRequest, CompletionResponse, ToolDefinition};
use segue::Said;
use segue::event::{Block, Usage};
use segue::prompt::{Prompt, PromptContent, PromptMessage, PromptRole, ToolContract};

/// What rig sends for a prompt: system parts, tools, transcript, and what is told anew every turn.
pub(crate) fn request(prompt: &Prompt) -> anyhow::Result<CompletionRequest> {
    let transcript: Vec<_> =
        prompt.transcript.iter().map(|message| to_message(message)).collect::<anyhow::Result<_>>()?;
    let tools = prompt.tools.iter().map(to_tool).collect::<anyhow::Result<_>>()?;
    // rig takes the last message first, and puts the others before it.
    let blocks = Message::user(prompt.blocks.concat());
    Ok(CompletionRequest::new(blocks).preamble(prompt.system.join("\n\n")).messages(transcript).tools(tools))
}

/// What the model said, with its provider's counts.
pub(crate) fn said(response: &CompletionResponse) -> Said {
    let mut said = Said::default();
    for content in &response.choice {
        said = match content {
            AssistantContent::ToolCall(call) => {
                let arguments = call.function.arguments_value().to_string();
                let arguments = call.function.invalid_arguments.as_deref().unwrap_or(&arguments);
                said.call(&call.id.wire(), call.function.name.as_str(), arguments)
            }
            AssistantContent::Text(text) => {
                said.blocks.push(Block::Text(text.text().to_owned()));
                said
            }
            // The scripted server sends nothing else; an agent for real providers keeps reasoning as well.
            _ => said,
        };
    }
    let cached = response.usage.cached_input_tokens;
    // rig counts what came from the cache among the input.
    let input = response.usage.input_tokens.map(|input| input.saturating_sub(cached.unwrap_or(0)));
    let output = response.usage.output_tokens;
    said.with_usage(Usage { input, output, cache_read: cached, cache_write: None })
}

fn to_tool(tool: &ToolContract) -> anyhow::Result<ToolDefinition> {
    let parameters = serde_json::from_str(&tool.parameters)?;
    Ok(ToolDefinition::new(ToolName::new(&tool.name)?, &tool.description, parameters))
}

fn to_message(message: &PromptMessage) -> anyhow::Result<Message> {
    let PromptMessage { role, content, .. } = message;
    Ok(match role {
        PromptRole::System => Message::system(text_of(content)),
        PromptRole::User => Message::user(text_of(content)),
        PromptRole::Assistant => {
            let content = content.iter().map(to_assistant_content).collect::<anyhow::Result<_>>()?;
            Message::Assistant(AssistantMessage::new(content))
        }
        PromptRole::Tool => {
            let results = content.iter().map(to_tool_result).collect::<anyhow::Result<_>>()?;
            Message::User { content: results }
        }
    })
}

fn to_assistant_content(content: &PromptContent) -> anyhow::Result<AssistantContent> {
    Ok(match content {
        PromptContent::ToolCall { id, name, arguments } => {
            let arguments = serde_json::from_str(arguments)?;
            AssistantContent::tool_call(id, ToolName::new(name)?, arguments)
        }
        other => AssistantContent::text(text_of(std::slice::from_ref(other))),
    })
}

fn to_tool_result(content: &PromptContent) -> anyhow::Result<UserContent> {
    let PromptContent::ToolResult { id, tool, content, .. } = content else {
        return Ok(UserContent::text(text_of(std::slice::from_ref(content))));
    };
    let name = ToolName::new(tool).context("a result of no tool")?;
    let content = vec![ToolResultContent::text(text_of(content))];
    Ok(UserContent::tool_result(CallId::from_wire(id), name, content))
}

/// Every text; an agent that shows pictures reads their blobs here.
fn text_of(content: &[PromptContent]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        PromptContent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
