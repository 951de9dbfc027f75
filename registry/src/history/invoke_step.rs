//! The steps of a call, in their order.

use crate::kit::named_values::named_values;

named_values! {
    /// A step of a call. A refused call has the step that refused it in its record.
    InvokeStep = "invoke step", "must be resolve, permit, validate, once, mode, policy, intervene, reserve, execute, shape, verdict or record" {
        /// Finds the tool and its version.
        Resolve = "resolve",
        /// Checks the permissions of the caller.
        Permit = "permit",
        /// Checks the input against the schema.
        Validate = "validate",
        /// Looks up the idempotency key.
        Once = "once",
        /// Checks the mode of the call.
        Mode = "mode",
        /// Applies the policies.
        Policy = "policy",
        /// Waits for the decision of a person.
        Intervene = "intervene",
        /// Takes the call out of limits and budgets.
        Reserve = "reserve",
        /// Runs the tool.
        Execute = "execute",
        /// Redacts, truncates and validates the output.
        Shape = "shape",
        /// Judges the output.
        Verdict = "verdict",
        /// Writes the record.
        Record = "record",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_written_by_their_names_in_order() {
        let names: Vec<_> = InvokeStep::ALL.iter().map(|step| step.as_str()).collect();
        let written = "resolve permit validate once mode policy intervene reserve execute shape verdict record";
        assert_eq!(names.join(" "), written);
        for step in InvokeStep::ALL {
            assert_eq!(step.as_str().parse(), Ok(*step));
            let json = serde_json::to_string(step).unwrap();
            assert_eq!(json, format!("{:?}", step.as_str()));
            assert_eq!(serde_json::from_str::<InvokeStep>(&json).unwrap(), *step);
        }
        assert!(["", "Resolve", "permit ", "none"].iter().all(|text| text.parse::<InvokeStep>().is_err()));
    }
}
