//! How many parameters a function has, and that each has a name.

use proc_macro2::Span;
use syn::visit::Visit;
use syn::{FnArg, ImplItemFn, Item, ItemImpl, Pat, Signature, TraitItemFn};

use super::{files, none, product};

/// More become a struct, whose fields have names.
const PARAMETERS_MAX: usize = 5;

#[derive(Default)]
struct Long(Vec<(String, Span)>);

/// Functions with a tuple that packs parameters.
#[derive(Default)]
struct Packed(Vec<(String, Span)>);

impl Visit<'_> for Packed {
    fn visit_signature(&mut self, signature: &Signature) {
        let is_tuple = |input: &FnArg| matches!(input, FnArg::Typed(typed) if matches!(&*typed.pat, Pat::Tuple(_)));
        if signature.inputs.iter().any(is_tuple) {
            self.0.push((signature.ident.to_string(), signature.ident.span()));
        }
    }
}

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
fn functions_have_at_most_five_parameters() {
    let mut findings = Vec::new();
    for file in product() {
        let syntax = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let mut long = Long::default();
        long.visit_file(&syntax);
        findings.extend(long.0.into_iter().map(|(name, at)| format!("{}:{}: {name}", file.path, at.start().line)));
    }
    none("a function has at most five parameters besides self; more become a struct", &findings);
}

#[test]
fn each_parameter_has_a_name() {
    let mut findings = Vec::new();
    for file in files().into_iter().filter(|file| file.path.ends_with(".rs")) {
        let syntax = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let mut packed = Packed::default();
        packed.visit_file(&syntax);
        findings.extend(packed.0.into_iter().map(|(name, at)| format!("{}:{}: {name}", file.path, at.start().line)));
    }
    none("a tuple packs parameters, which have no names then", &findings);
}
