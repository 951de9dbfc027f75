"""Passes the content blocks of a tool on to the host."""

from amigo_tool_scaffold import content

_host = None


def install(host):
    global _host
    _host = host
    content.receive(_add)


def _add(block):
    from componentize_py_types import Err

    try:
        _host.add(_wire(block))
    except Err as error:
        code = error.value.code.name.lower()
        raise content.ContentRefused(error.value.message, code) from None


def _wire(block):
    match block:
        case content.Text(text):
            return _host.Block_Text(text)
        case content.Image(data, mime_type):
            return _host.Block_Image(_host.Media(data, mime_type))
        case content.Audio(data, mime_type):
            return _host.Block_Audio(_host.Media(data, mime_type))
        case content.Resource(uri, contents, mime_type):
            text = isinstance(contents, str)
            kept = _host.ResourceContents_Text(contents) if text else _host.ResourceContents_Blob(contents)
            return _host.Block_Embedded(_host.EmbeddedResource(uri, mime_type, kept))
        case content.Link(uri, name, description, mime_type):
            return _host.Block_Link(_host.ResourceLink(uri, name, description, mime_type))
