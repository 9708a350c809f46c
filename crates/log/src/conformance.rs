//! The suite that every implementation of the port must pass.
