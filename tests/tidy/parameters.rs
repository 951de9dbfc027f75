//! How many parameters a function has.

use proc_macro2::Span;
use syn::visit::Visit;
use syn::{FnArg, ImplItemFn, Item, ItemImpl, Pat, Signature, TraitItemFn};

use super::{none, product};

/// More become a struct, whose fields have names.
const PARAMETERS_MAX: usize = 3;

#[derive(Default)]
struct Long(Vec<(String, Span)>);

impl Long {
    fn look_at(&mut self, signature: &Signature) {
        if is_handler(signature) {
            return;
        }
        let parameters = signature.inputs.iter().filter(|input| matches!(input, FnArg::Typed(_)));
        if parameters.count() > PARAMETERS_MAX {
            self.0.push((signature.ident.to_string(), signature.ident.span()));
        }
    }
}

impl Visit<'_> for Long {
    fn visit_item(&mut self, item: &Item) {
        if let Item::Fn(function) = item
            && function.sig.abi.is_none()
        {
            self.look_at(&function.sig);
        }
        syn::visit::visit_item(self, item);
    }

    /// What implements a trait has the trait's parameters.
    fn visit_item_impl(&mut self, block: &ItemImpl) {
        if block.trait_.is_none() {
            syn::visit::visit_item_impl(self, block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &ImplItemFn) {
        self.look_at(&function.sig);
    }

    fn visit_trait_item_fn(&mut self, function: &TraitItemFn) {
        self.look_at(&function.sig);
    }
}

/// Whether the function answers requests: it has a parameter for each part of the request that it reads.
fn is_handler(signature: &Signature) -> bool {
    signature.inputs.iter().any(|input| match input {
        FnArg::Typed(typed) => matches!(&*typed.pat, Pat::TupleStruct(tuple) if tuple.path.is_ident("State")),
        FnArg::Receiver(_) => false,
    })
}

#[test]
fn functions_have_at_most_three_parameters() {
    let mut findings = Vec::new();
    for file in product() {
        let syntax = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let mut long = Long::default();
        long.visit_file(&syntax);
        findings.extend(long.0.into_iter().map(|(name, at)| format!("{}:{}: {name}", file.path, at.start().line)));
    }
    none("a function has at most three parameters besides self; more become a struct", &findings);
}
