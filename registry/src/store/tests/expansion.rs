//! Constant texts of the source code: string literals, and what `concat!` and the macros of the store make of them.

use std::collections::BTreeMap;

use proc_macro2::{Group, Punct, Spacing, TokenStream, TokenTree};
use syn::{Expr, ExprLit, ItemMacro, Lit, Macro};

/// The macros of the store by name, each with its rules: a pattern and a body.
#[derive(Default)]
pub(super) struct Macros(BTreeMap<String, Vec<(TokenStream, TokenStream)>>);

/// Tokens by the name of the macro's parameter. A repeated parameter has several.
type Bindings = BTreeMap<String, Vec<TokenStream>>;

impl Macros {
    /// Adds a `macro_rules!`.
    pub fn define(&mut self, item: &ItemMacro) {
        let Some(name) = &item.ident else { return };
        let groups = item.mac.tokens.clone().into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        });
        let groups: Vec<_> = groups.collect();
        let rules = groups.chunks(2).map(|rule| (rule[0].clone(), rule[1].clone())).collect();
        self.0.insert(name.to_string(), rules);
    }

    /// Returns the text that a macro makes; `None` for macros that make none.
    pub fn text_of(&self, call: &Macro) -> Option<String> {
        let name = call.path.segments.last()?.ident.to_string();
        if name == "concat" {
            return arguments(&call.tokens).into_iter().map(|argument| self.text(argument)).collect();
        }
        let rules = self.0.get(&name)?;
        let (bindings, body) =
            rules.iter().find_map(|(pattern, body)| Some((matched(pattern, &call.tokens)?, body)))?;
        self.text(substituted(body, &bindings))
    }

    /// Returns the text of an expression.
    fn text(&self, tokens: TokenStream) -> Option<String> {
        match syn::parse2(tokens).ok()? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            Expr::Macro(call) => self.text_of(&call.mac),
            _ => None,
        }
    }
}

/// Splits the arguments of a macro at their commas.
fn arguments(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut arguments = vec![TokenStream::new()];
    for token in tokens.clone() {
        match (&token, arguments.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => arguments.push(TokenStream::new()),
            (_, Some(argument)) => argument.extend([token]),
            (_, None) => {}
        }
    }
    arguments.retain(|argument| !argument.is_empty());
    arguments
}

/// Matches arguments with a pattern of single parameters and a repeated one at the end, each before a comma.
fn matched(pattern: &TokenStream, tokens: &TokenStream) -> Option<Bindings> {
    let (mut bindings, mut open) = (Bindings::new(), arguments(tokens).into_iter());
    for parameter in arguments(pattern) {
        let text = parameter.to_string().replace(' ', "");
        let Some((before, parameter)) = text.split_once('$') else { continue };
        if let Some(repeated) = parameter.strip_prefix("($") {
            let name = repeated.split(':').next()?.to_owned();
            bindings.insert(name, open.by_ref().collect());
            continue;
        }
        let found = without(before, open.next()?)?;
        bindings.insert(parameter.split(':').next()?.to_owned(), vec![found]);
    }
    let is_expression = |tokens: &TokenStream| syn::parse2::<Expr>(tokens.clone()).is_ok();
    let is_complete = open.next().is_none() && bindings.values().flatten().all(is_expression);
    is_complete.then_some(bindings)
}

/// Removes the literal tokens of a pattern, such as `@from`, from the beginning of an argument.
fn without(before: &str, argument: TokenStream) -> Option<TokenStream> {
    let (mut rest, mut tokens) = (before, argument.into_iter().peekable());
    while !rest.is_empty() {
        rest = rest.strip_prefix(&tokens.next()?.to_string())?;
    }
    Some(tokens.collect())
}

/// Puts the arguments into the body of a macro.
fn substituted(body: &TokenStream, bindings: &Bindings) -> TokenStream {
    let (mut made, mut tokens) = (TokenStream::new(), body.clone().into_iter().peekable());
    while let Some(token) = tokens.next() {
        let is_parameter = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '$');
        match (token, tokens.peek().cloned()) {
            (_, Some(TokenTree::Ident(name))) if is_parameter => {
                tokens.next();
                made.extend(bindings.get(&name.to_string()).into_iter().flatten().cloned());
            }
            (_, Some(TokenTree::Group(repeated))) if is_parameter => {
                // The group, its separator and the star.
                tokens.by_ref().take(3).for_each(drop);
                made.extend(repetition(&repeated, bindings));
            }
            (TokenTree::Group(group), _) => {
                made.extend([TokenTree::from(Group::new(group.delimiter(), substituted(&group.stream(), bindings)))]);
            }
            (token, _) => made.extend([token]),
        }
    }
    made
}

/// Puts the arguments of a repeated parameter, separated by commas.
fn repetition(repeated: &Group, bindings: &Bindings) -> TokenStream {
    let name = repeated.stream().to_string().replace(['$', ' '], "");
    let mut list = TokenStream::new();
    for argument in bindings.get(&name).into_iter().flatten() {
        if !list.is_empty() {
            list.extend([TokenTree::from(Punct::new(',', Spacing::Alone))]);
        }
        list.extend(argument.clone());
    }
    list
}

#[test]
fn macros_make_the_texts_that_the_compiler_makes() {
    macro_rules! select {
        ($($rest:expr),*) => { select!(@from "", $($rest),*) };
        (@from $leading:expr, $($rest:expr),*) => { concat!("SELECT x FROM ", $leading, "y ", $($rest),*) };
    }
    macro_rules! deleted {
        ($table:literal) => {
            concat!("DELETE FROM ", $table)
        };
    }
    let definitions = r#"
        macro_rules! select {
            ($($rest:expr),*) => { select!(@from "", $($rest),*) };
            (@from $leading:expr, $($rest:expr),*) => { concat!("SELECT x FROM ", $leading, "y ", $($rest),*) };
        }
        macro_rules! deleted { ($table:literal) => { concat!("DELETE FROM ", $table) }; }"#;
    let mut macros = Macros::default();
    for item in syn::parse_file(definitions).unwrap().items {
        let syn::Item::Macro(item) = item else { panic!("a macro") };
        macros.define(&item);
    }
    for (written, made) in [
        (r#"select!("WHERE a = 1")"#, Some(select!("WHERE a = 1"))),
        (r#"select!("WHERE a = 1", " LIMIT 1")"#, Some(select!("WHERE a = 1", " LIMIT 1"))),
        (r#"select!(@from "z CROSS JOIN ", "WHERE a = 1")"#, Some(select!(@from "z CROSS JOIN ", "WHERE a = 1"))),
        (r#"concat!(deleted!("t"), " WHERE ", "b")"#, Some(concat!(deleted!("t"), " WHERE ", "b"))),
        (r#"format!("{x}")"#, None),
    ] {
        let call: syn::ExprMacro = syn::parse_str(written).unwrap();
        assert_eq!(macros.text_of(&call.mac).as_deref(), made, "{written}");
    }
}
