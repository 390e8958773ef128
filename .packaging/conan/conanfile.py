"""Conan 2 recipe of the checkout that it is in: `conan create .packaging/conan`. The package is header-only."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout

ROOT = os.path.join("..", "..")


class TollgateConan(ConanFile):
    name = "tollgate"
    description = "A complete account API for your own C++ process: personal tokens, OAuth 2.0, webhooks, rate limits"
    license = "MIT"
    topics = ("oauth2", "rest", "webhooks", "rate-limiting", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"sqlite": [True, False], "postgres": [True, False], "redis": [True, False]}
    default_options = {"sqlite": False, "postgres": False, "redis": False}
    no_copy_source = True

    def set_version(self):
        config = load(self, os.path.join(self.recipe_folder, ROOT, "include", "tollgate", "base", "config.hpp"))
        self.version = re.search(r'#define TOLLGATE_VERSION "([^"]+)"', config).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("include/*", "LICENSE"):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        headers = {"transitive_headers": True, "transitive_libs": True}
        self.requires("asio/[>=1.22 <2]", **headers)
        self.requires("nlohmann_json/[>=3.11 <4]", **headers)
        self.requires("openssl/[>=3.0 <4]", **headers)
        if self.options.sqlite:
            self.requires("sqlite3/[>=3.37 <4]", **headers)
        if self.options.postgres:
            self.requires("libpq/[>=14]", **headers)
        if self.options.redis:
            self.requires("hiredis/[>=1.0 <2]", **headers)

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        for pattern in ("*.hpp", "*.ipp"):
            copy(self, pattern, src=os.path.join(self.source_folder, "include"),
                 dst=os.path.join(self.package_folder, "include"))

    def package_info(self):
        # The same targets as after `cmake --install`: tollgate::tollgate, tollgate::sqlite, ...
        # The package as a whole is all of them, so it needs another name than the first.
        self.cpp_info.set_property("cmake_file_name", "tollgate")
        self.cpp_info.set_property("cmake_target_name", "tollgate::all")
        self.cpp_info.set_property("pkg_config_name", "tollgate-all")
        core = self.cpp_info.components["tollgate"]
        core.set_property("cmake_target_name", "tollgate::tollgate")
        core.set_property("pkg_config_name", "tollgate")
        core.requires = ["asio::asio", "nlohmann_json::nlohmann_json", "openssl::openssl"]
        core.bindirs = core.libdirs = []
        core.system_libs = ["pthread"]
        backends = {"sqlite": "sqlite3::sqlite3", "postgres": "libpq::libpq", "redis": "hiredis::hiredis"}
        for name, library in backends.items():
            if self.options.get_safe(name):
                backend = self.cpp_info.components[name]
                backend.set_property("cmake_target_name", f"tollgate::{name}")
                backend.requires = ["tollgate", library]
                backend.defines = [f"TOLLGATE_WITH_{name.upper()}"]
                backend.bindirs = backend.libdirs = []
