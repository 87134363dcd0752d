"""Esper's configuration files, ``esper.cfg.xml``: event types, variables, imports, settings (docs/esper-config.md)."""
from runtime.esper_config.configuration import EsperConfig as EsperConfig
from runtime.esper_config.configuration import Plugins as Plugins
from runtime.esper_config.configuration import Remark as Remark
from runtime.esper_config.configuration import read_esper_config as read_esper_config

__all__ = ["EsperConfig", "Plugins", "Remark", "read_esper_config"]
