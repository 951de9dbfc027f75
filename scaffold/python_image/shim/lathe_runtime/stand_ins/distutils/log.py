"""Stands in for `distutils.log`."""

import logging

DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARN, logging.ERROR, logging.FATAL
_logger = logging.getLogger("distutils")
log, debug, info, warn, error, fatal = (
    _logger.log, _logger.debug, _logger.info, _logger.warning, _logger.error, _logger.critical
)  # fmt: skip
