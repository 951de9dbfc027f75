//! The declarations of the tools that every family has.

use registry::Permission;
use runner::{Reach, ToolEffect};

use super::create::create;
use super::delete::delete;
use super::get::get;
use super::list::list;
use super::record::Record;
use super::schemas;
use super::search::search;
use super::share::share;
use super::update::update;
use crate::platform_call::PlatformToolSpec;

pub(super) const fn creates<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec {
        effect: Some(ToolEffect::Adds),
        input_schema: Some(schemas::new::<R>),
        output_schema: Some(schemas::item::<R>),
        handler: Some(create::<R>),
        ..of::<R>(name, title, description)
    }
}

pub(super) const fn lists<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec {
        effect: Some(ToolEffect::ReadOnly),
        input_schema: Some(schemas::page::<R>),
        output_schema: Some(schemas::items::<R>),
        handler: Some(list::<R>),
        ..of::<R>(name, title, description)
    }
}

pub(super) const fn searches<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec {
        effect: Some(ToolEffect::ReadOnly),
        input_schema: Some(schemas::query),
        output_schema: Some(schemas::results::<R>),
        handler: Some(search::<R>),
        ..of::<R>(name, title, description)
    }
}

pub(super) const fn gets<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec {
        effect: Some(ToolEffect::ReadOnly),
        input_schema: Some(schemas::one::<R>),
        output_schema: Some(schemas::item::<R>),
        handler: Some(get::<R>),
        ..of::<R>(name, title, description)
    }
}

/// Gets items whose earlier versions are kept.
pub(super) const fn gets_versions<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec { input_schema: Some(schemas::one_and_version::<R>), ..gets::<R>(name, title, description) }
}

pub(super) const fn updates<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec {
        effect: Some(ToolEffect::Idempotent),
        input_schema: Some(schemas::changes::<R>),
        output_schema: Some(schemas::item::<R>),
        handler: Some(update::<R>),
        ..of::<R>(name, title, description)
    }
}

pub(super) const fn deletes<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec {
        effect: Some(ToolEffect::Destroys),
        input_schema: Some(schemas::one::<R>),
        output_schema: Some(schemas::deleted::<R>),
        handler: Some(delete::<R>),
        ..of::<R>(name, title, description)
    }
}

pub(super) const fn shares<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec {
        effect: Some(ToolEffect::Idempotent),
        input_schema: Some(schemas::one_and_user::<R>),
        output_schema: Some(schemas::shared::<R>),
        handler: Some(share::<R>),
        ..of::<R>(name, title, description)
    }
}

pub(super) const fn of<R: Record>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> PlatformToolSpec {
    PlatformToolSpec {
        title: Some(title),
        description: Some(description),
        permission: Some(Permission::OwnAccount),
        reach: Reach::Family,
        has_envelope: true,
        ..PlatformToolSpec::new(R::FAMILY.as_str(), name)
    }
}
