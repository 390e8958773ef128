"""Conan 2 recipe of the checkout that it is in: `conan create .packaging/conan`.

By default, the package has the compiled form and all databases. With `compiled=False` it is header-only.
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

ROOT = os.path.join("..", "..")
# The options, with the requirement of each, the package that CMake finds, and the target that a component needs.
BACKENDS = {
    "sqlite": ("sqlite3/[>=3.37 <4]", "SQLite3", "sqlite3::sqlite3"),
    "postgres": ("libpq/[>=14]", "PostgreSQL", "libpq::libpq"),
    "redis": ("hiredis/[>=1.0 <2]", "Hiredis", "hiredis::hiredis"),
}


class TollgateConan(ConanFile):
    name = "tollgate"
    description = "A complete account API for your own C++ process: personal tokens, OAuth 2.0, webhooks, rate limits"
    license = "MIT"
    topics = ("oauth2", "rest", "webhooks", "rate-limiting")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {name: [True, False] for name in ("compiled", *BACKENDS)}
    default_options = {name: True for name in ("compiled", *BACKENDS)}

    def set_version(self):
        config = load(self, os.path.join(self.recipe_folder, ROOT, "include", "tollgate", "base", "config.hpp"))
        self.version = re.search(r'#define TOLLGATE_VERSION "([^"]+)"', config).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("include/*", ".cmake/*", "CMakeLists.txt", "LICENSE"):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def backends(self):
        return [name for name in BACKENDS if self.options.get_safe(name)]

    def requirements(self):
        headers = {"transitive_headers": True, "transitive_libs": True}
        self.requires("asio/[>=1.22 <2]", **headers)
        self.requires("nlohmann_json/[>=3.11 <4]", **headers)
        self.requires("openssl/[>=3.0 <4]", **headers)
        for name in self.backends():
            self.requires(BACKENDS[name][0], **headers)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["TOLLGATE_BUILD_COMPILED"] = bool(self.options.compiled)
        # What an option leaves out must not be found by accident.
        for name, (_, package, _) in BACKENDS.items():
            toolchain.cache_variables[f"CMAKE_DISABLE_FIND_PACKAGE_{package}"] = name not in self.backends()
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes these files for its users.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        # The same targets as after `cmake --install`: tollgate::tollgate, tollgate::compiled, tollgate::sqlite, ...
        # The package as a whole is all of them, so it needs another name than the first.
        self.cpp_info.set_property("cmake_file_name", "tollgate")
        self.cpp_info.set_property("cmake_target_name", "tollgate::all")
        self.cpp_info.set_property("pkg_config_name", "tollgate-all")
        core = self.add_component("tollgate", ["asio::asio", "nlohmann_json::nlohmann_json", "openssl::openssl"])
        core.set_property("pkg_config_name", "tollgate")
        core.system_libs = ["pthread"]
        if self.options.compiled:
            self.add_compiled("compiled", ["tollgate"])
        for name in self.backends():
            backend = self.add_component(name, ["tollgate", BACKENDS[name][2]])
            backend.defines = [f"TOLLGATE_WITH_{name.upper()}"]
            if self.options.compiled:
                self.add_compiled(f"compiled_{name}", ["compiled", name])

    def add_component(self, name, requires):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"tollgate::{name}")
        component.requires = requires
        component.bindirs = component.libdirs = []
        return component

    def add_compiled(self, name, requires):
        component = self.add_component(name, requires)
        component.defines = ["TOLLGATE_SEPARATE_COMPILATION"]
        component.libs = [f"tollgate_{name}"]
        component.libdirs = ["lib"]
