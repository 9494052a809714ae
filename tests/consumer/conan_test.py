"""What the Conan recipe packs is enough to build from: its files are copied, and configured with its settings.

  conan_test.py <cmake> <conanfile.py> <empty folder> [<option of cmake>...]

Conan itself is not needed, and not tried: stand-ins take its place. Nothing is compiled, but all that would be must be
there; of what is installed only the folders are looked at.
"""

import pathlib
import shutil
import subprocess
import sys
import types

cmake, recipe, folder, *options = sys.argv[1:]
recipe, folder = pathlib.Path(recipe), pathlib.Path(folder)
shutil.rmtree(folder, ignore_errors=True)
packed, build = folder / "packed", folder / "build"


def copy(_, pattern, src, dst):
    """Stands for Conan's copy(): copies a folder and all below it, or one file."""
    name = pattern.removesuffix("/*")
    source, target = pathlib.Path(src) / name, pathlib.Path(dst) / name
    if not source.exists():
        sys.exit(f"the recipe packs {name}, which there is not")
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


class Dependencies:
    """Stands for Conan's CMakeDeps, and does nothing: CMake finds the machine's own libraries here."""

    def __init__(self, _):
        pass

    def generate(self):
        pass


class Toolchain(Dependencies):
    """Stands for Conan's CMakeToolchain, as far as the recipe uses it."""

    def __init__(self, _):
        self.cache_variables = {}
        Toolchain.last = self


def stand_in(name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


stand_in("conan", ConanFile=object)
stand_in("conan.errors", ConanInvalidConfiguration=ValueError)
stand_in("conan.tools")
stand_in("conan.tools.build", check_min_cppstd=None)
stand_in("conan.tools.cmake", CMake=None, CMakeDeps=Dependencies, CMakeToolchain=Toolchain, cmake_layout=None)
stand_in("conan.tools.files", copy=copy, load=None)
stand_in("conan.tools.system", package_manager=None)
stand_in("conan.tools.system.package_manager", Apt=None)
members = {}
exec(compile(recipe.read_text(), recipe, "exec"), members)

custodian = members["CustodianConan"]()
custodian.recipe_folder = str(recipe.parent)
custodian.export_sources_folder = str(packed)
custodian.export_sources()
for shared in (False, True):
    # Whether to use prometheus-cpp and OpenSSL, as in the build around this test.
    prometheus = "-DCUSTODIAN_BUILD_PROMETHEUS=ON" in options
    discovery = "-DCUSTODIAN_BUILD_DISCOVERY=ON" in options
    tls = "-DCUSTODIAN_TLS=ON" in options
    custodian.options = types.SimpleNamespace(shared=shared, discovery=discovery, prometheus=prometheus, tls=tls,
                                              testing=True, tools=True)
    custodian.generate()
    settings = {"BUILD_SHARED_LIBS": shared, **Toolchain.last.cache_variables}
    built = build / f"shared-{shared}"
    words = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in settings.items()]
    # Conan's own folders.
    words += ["-DCMAKE_INSTALL_BINDIR=bin", "-DCMAKE_INSTALL_LIBEXECDIR=bin", "-DCMAKE_INSTALL_LIBDIR=lib"]
    subprocess.run([cmake, "-S", packed, "-B", built, *options, *words], check=True)
    # The command is bin/custodian.
    taken = 'DESTINATION "${CMAKE_INSTALL_PREFIX}/bin/custodian"'
    if any(taken in script.read_text() for script in built.rglob("cmake_install.cmake")):
        sys.exit("something would be installed into a folder bin/custodian")
