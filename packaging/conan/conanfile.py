"""Custodian for Conan 2: `conan create packaging/conan --build=missing` packs the tree that this file lies in.

Boost and the libraries of the command-line tool come from Conan. The ZooKeeper C client does not: Conan Center's
zookeeper-client-c is the multi-threaded one, which Custodian cannot drive. On Debian and Ubuntu the system's package
brings the single-threaded one (Conan installs it if it may: tools.system.package_manager:mode=install). Elsewhere build
it (zookeeper-client-c with -DWANT_SYNCAPI=OFF) and name its prefix in the environment's ZooKeeper_ROOT.
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"


class CustodianConan(ConanFile):
    name = "custodian"
    description = "ZooKeeper recipes for C++20: locks, leader election and their family"
    license = "Apache-2.0"
    topics = ("zookeeper", "lock", "leader-election", "asio")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "discovery": [True, False],
        "prometheus": [True, False],
        "tls": [True, False],
        "testing": [True, False],
        "tools": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "discovery": True,
        "prometheus": False,
        "tls": True,
        "testing": True,
        "tools": False,
        "boost/*:header_only": True,
    }
    implements = ["auto_shared_fpic"]

    @property
    def _tree(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", ".."))

    def set_version(self):
        lists = load(self, os.path.join(self._tree, "CMakeLists.txt"))
        self.version = self.version or re.search(r"VERSION (\d+\.\d+\.\d+)", lists)[1]

    def export_sources(self):
        files = ("CMakeLists.txt", "LICENSE")
        folders = ("cmake", "docs", "include", "packaging/debian", "recipes", "src", "testing", "tools")
        for pattern in (*files, *(f"{folder}/*" for folder in folders)):
            copy(self, pattern, src=self._tree, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Its headers are in ours.
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)
        if self.options.prometheus:
            self.requires("prometheus-cpp/[>=1.0 <2]", transitive_headers=True)
        if self.options.tls:
            self.requires("openssl/[>=1.1.1 <4]")
        if self.options.discovery or self.options.tools:
            # It has headers only, which ours do not include.
            self.requires("nlohmann_json/[>=3.11 <4]", visible=False)
        if self.options.tools:
            self.requires("cli11/[>=2.3 <3]")
            self.requires("spdlog/[>=1.10 <2]")

    def system_requirements(self):
        if "ZooKeeper_ROOT" not in os.environ:
            Apt(self).install(["libzookeeper-st-dev"])

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Custodian runs on Linux only")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CUSTODIAN_BUILD_TESTING"] = bool(self.options.testing)
        toolchain.cache_variables["CUSTODIAN_BUILD_TOOLS"] = bool(self.options.tools)
        toolchain.cache_variables["CUSTODIAN_BUILD_DISCOVERY"] = bool(self.options.discovery)
        toolchain.cache_variables["CUSTODIAN_BUILD_PROMETHEUS"] = bool(self.options.prometheus)
        toolchain.cache_variables["CUSTODIAN_TLS"] = bool(self.options.tls)
        # Kerberos is the system's affair.
        toolchain.cache_variables["CUSTODIAN_SASL"] = False
        for part in ("TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"CUSTODIAN_BUILD_{part}"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # Custodian's own CustodianConfig.cmake finds Boost, the C client and the harness's program.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/Custodian"]
        # For other generators.
        self.cpp_info.libs = ["custodian_recipes", "custodian"]
        if self.options.discovery:
            self.cpp_info.libs.insert(0, "custodian_discovery")
        if self.options.testing:
            self.cpp_info.libs.insert(0, "custodian_testing")
        if self.options.prometheus:
            self.cpp_info.libs.insert(0, "custodian_prometheus")
        if not self.options.shared:
            self.cpp_info.system_libs = ["zookeeper_st", "m", "pthread"]
