#!/bin/bash
# install.sh FOLDER: what the suite of SqlClient needs, all of it in FOLDER: the .NET Core runtime, SqlClient and SMO from wheels of
# Python's registry; OpenSSL 1.1 and ICU 67, which that runtime asks for and newer Debians lack, and a C# compiler from Debian's,
# unpacked and not installed. `install.sh FOLDER compile SOURCES...` compiles the suite.
set -euo pipefail
home=$1
framework() { echo "$home"/net/dotnetcore2/bin/shared/Microsoft.NETCore.App/*; }

if [ "${2:-}" = compile ]; then
  shift 2
  references=(-r:"$home/app/System.Data.SqlClient.dll" -r:"$home/app/Newtonsoft.Json.dll")
  for name in ConnectionInfo Management.Sdk.Sfc Smo SmoExtended SqlEnum; do
    references+=(-r:"$home/app/Microsoft.SqlServer.$name.dll")
  done
  for name in System.Private.CoreLib System.Private.Uri System.Private.Xml System.Runtime System.Runtime.Extensions \
    System.Runtime.Numerics System.Security.Cryptography.Algorithms System.Security.Cryptography.Primitives System.Collections System.Collections.NonGeneric System.Collections.Specialized System.Console \
    System.ComponentModel System.ComponentModel.Primitives System.ComponentModel.TypeConverter System.Data.Common \
    System.Diagnostics.Process System.Diagnostics.TraceSource System.Dynamic.Runtime System.IO System.IO.FileSystem System.Linq System.Linq.Expressions \
    System.ObjectModel System.Text.RegularExpressions System.Threading System.Threading.Tasks System.Threading.Thread \
    System.Threading.Timer System.Transactions.Local System.Xml.ReaderWriter netstandard; do
    references+=(-r:"$(framework)/$name.dll")
  done
  root=$home/root/usr
  MONO_PATH=$root/lib/mono/4.5 MONO_CFG_DIR=$home/root/etc MONO_GAC_PREFIX=$root "$root/bin/mono-sgen" "$root/lib/mono/4.5/mcs.exe" \
    -nologo -nostdlib -noconfig -langversion:7.2 -warn:0 -target:exe -out:"$home/app/Suite.dll" "${references[@]}" "$@"
  printf '{"runtimeOptions":{"framework":{"name":"Microsoft.NETCore.App","version":"%s"}}}\n' "$(basename "$(framework)")" \
    > "$home/app/Suite.runtimeconfig.json"
  exit
fi

rm -rf "$home"
mkdir -p "$home"/{wheels,apt/lists/partial,apt/cache/archives/partial,packages,root,app,user}
wheel() { # requirement, folder
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux1_x86_64 \
    --platform manylinux2014_x86_64 --dest "$home/wheels" "$1"
  python3 -m zipfile -e "$home"/wheels/"$(echo "${1%%=*}" | tr - _)"-*.whl "$home/$2"
}
wheel dotnetcore2==3.1.23 net
wheel mssql-cli==1.0.0 tools
chmod +x "$home/net/dotnetcore2/bin/dotnet"
# SMO, and what of its libraries the framework has not.
for library in "$home"/tools/mssqlcli/mssqltoolsservice/bin/*.dll; do
  [ -e "$(framework)/$(basename "$library")" ] || cp "$library" "$home/app/"
done
rm -rf "$home/wheels" "$home/tools"

wanted="libssl1.1 libicu67 mono-mcs mono-runtime-common mono-runtime-sgen mono-runtime libmono-corlib4.5-dll libmono-corlib4.5-cil
  libmono-microsoft-csharp4.0-cil libmono-system4.0-cil libmono-system-core4.0-cil libmono-system-numerics4.0-cil
  libmono-system-xml4.0-cil libmono-system-security4.0-cil libmono-system-configuration4.0-cil libmono-security4.0-cil"
# From where this machine has its packages.
mirror=$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' 2>/dev/null | grep 'debian$' | grep -v security | sort -u | head -1)
[ -n "$mirror" ] || { echo "install.sh: apt knows no Debian mirror here" >&2; exit 1; }
for suite in "$(. /etc/os-release; echo "$VERSION_CODENAME")" bullseye; do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
done > "$home/apt/sources.list"
options=(-qq -o Dir::Etc::sourcelist="$home/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$home/apt/lists"
  -o Dir::Cache="$home/apt/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none)
apt-get "${options[@]}" update
# shellcheck disable=SC2086
(cd "$home/packages" && apt-get "${options[@]}" download $wanted)
for package in "$home"/packages/*.deb; do dpkg -x "$package" "$home/root"; done
rm -rf "$home/packages" "$home/apt"
