//! An agent's plan: a whole value, set anew at each change.

use serde::{Deserialize, Serialize};

use crate::RunId;

/// The steps an agent means to take.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The run that owns the plan; none once it was carried and nobody adopted it yet.
    pub owner: Option<RunId>,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlanStep {
    /// The agent's own id of the step.
    pub id: String,
    /// What is to be done.
    pub label: String,
    /// How far it is.
    pub status: StepStatus,
}

/// How far a step is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    Active,
    /// Finished.
    Done,
    /// Left out on purpose.
    Skipped,
    /// Tried without success.
    Failed,
}

impl StepStatus {
    /// Whether nothing is left to do for the step.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Skipped | Self::Failed)
    }

    /// The word for it: `pending`, `active`, `done`, `skipped` or `failed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

impl Plan {
    /// Whether the plan has steps and all of them are done, skipped or failed.
    pub fn is_settled(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|step| step.status.is_settled())
    }

    /// Whether a step is still to be done.
    pub fn has_open_steps(&self) -> bool {
        self.steps.iter().any(|step| !step.status.is_settled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_settled_when_it_has_steps_and_none_is_open() {
        let step = |status| PlanStep { id: String::new(), label: String::new(), status };
        let plan =
            |steps: &[StepStatus]| Plan { owner: None, steps: steps.iter().copied().map(step).collect() };
        assert!(!plan(&[]).is_settled() && !plan(&[]).has_open_steps());
        assert!(plan(&[StepStatus::Done, StepStatus::Skipped, StepStatus::Failed]).is_settled());
        assert!(plan(&[StepStatus::Done, StepStatus::Pending]).has_open_steps());
        assert!(!plan(&[StepStatus::Active]).is_settled());
    }
}
