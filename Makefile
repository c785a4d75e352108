# SPDX-License-Identifier: Apache-2.0
# rocelet: everything is built into build/. `make help` lists the targets.
#
# CC=clang, SAN=1 (AddressSanitizer + UBSan), SAN=thread (ThreadSanitizer), KILL_POINTS=1 and ARCH=arm64 (a Debian architecture other than
# this machine's) build into separate folders. CCACHE=0 compiles without ccache, V=1 shows the commands.

NATIVE_ARCH := $(shell dpkg --print-architecture)
ARCH ?= $(NATIVE_ARCH)
MACHINE := $(patsubst amd64,x86_64,$(patsubst arm64,aarch64,$(ARCH)))
TRIPLET := $(MACHINE)-linux-gnu
SYSROOT :=
# For another architecture, libraries and headers come from packages that are unpacked in a folder; those of this machine are not used.
ifneq ($(ARCH),$(NATIVE_ARCH))
SYSROOT := $(shell tests/deps.sh cross $(ARCH) >&2 && k8s/deploy/image/sysroot.sh $(ARCH))
$(if $(SYSROOT),,$(error no libraries to build for $(ARCH) with))
CC := $(TRIPLET)-gcc --sysroot=$(SYSROOT)
PKG_CONFIG := PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) pkg-config
endif
PKG_CONFIG ?= pkg-config
# make sets CC to cc by default, and `?=` would keep that.
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
# Objects are compiled through ccache if it is installed. PLACELESS keeps the folder of the sources out of the objects, so ccache need not
# include it in its keys, and checkouts in different folders share entries.
CCACHE ?= 1
ifneq ($(CCACHE),0)
ifneq ($(shell command -v ccache),)
CACHED := $(if $(shell [ -w /var/cache/rocelet-check ] && echo y),CCACHE_DIR=/var/cache/rocelet-check/ccache CCACHE_MAXSIZE=2G) \
	CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS='-ffile-prefix-map=*' ccache
endif
endif
V ?= 0
Q := $(if $(filter 0,$(V)),@,)
SAN ?= 0

VERSION := 0.1.0
# Revision of the sources. In a tree without git it is "unknown", unless REVISION=... is passed.
REVISION := $(or $(REVISION),$(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown))
KILL_POINTS ?= 0
BUILD := build$(if $(SYSROOT),/$(ARCH))
BASE := $(BUILD)$(if $(filter clang%,$(CC)),/clang)$(if $(filter 1,$(SAN)),/san)$(if $(filter thread,$(SAN)),/tsan)
B ?= $(BASE)$(if $(filter 1,$(KILL_POINTS)),/kill)
# Generated headers do not depend on the compiler or its flags.
GEN := $(BUILD)/gen

PKGS := libuv libnl-3.0 libbpf libelf libibverbs libudev libmicrohttpd jansson zlib libisal libnghttp2 libprotobuf-c libseccomp libcap-ng gnutls libcrypt
WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wpointer-arith \
	-Wwrite-strings -Wformat=2 -Wvla -Wundef -Wno-format-nonliteral
HARDEN := -fstack-protector-strong -fPIE
# clang 14 requires a second flag for this option, so only gcc gets it.
HARDEN += $(if $(filter clang%,$(CC)),,-ftrivial-auto-var-init=zero)
LDHARDEN := -pie -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed
ifeq ($(SAN),1)
OPT ?= -O1 -g
HARDEN += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LDHARDEN += -fsanitize=address,undefined
else ifeq ($(SAN),thread)
OPT ?= -O1 -g
HARDEN += -fsanitize=thread -fno-omit-frame-pointer
LDHARDEN += -fsanitize=thread
else
OPT ?= -O2 -g
HARDEN += -D_FORTIFY_SOURCE=2
endif

# Compiles the kill points, at which ROCELET_KILL_AT=NAME kills the program: include/kill_point.h.
CPPFLAGS += $(if $(filter 1,$(KILL_POINTS)),-DROCELET_KILL_POINTS)
CPPFLAGS += -D_GNU_SOURCE -Iinclude -I$(GEN)
# Removes the folder of the sources from the objects: the same sources give the same bytes in any folder.
PLACELESS := -ffile-prefix-map=$(CURDIR)=. $(if $(SYSROOT),-ffile-prefix-map=$(SYSROOT)=)
CFLAGS += -std=gnu11 $(OPT) $(WARN) $(HARDEN) $(PLACELESS)
# Computes a variable that runs a command when a recipe first needs it, and keeps the value.
once = $(eval $(1) := $(2))$($(1))
# -isystem: no warnings about the headers of libraries.
PKG_CFLAGS = $(call once,PKG_CFLAGS,$(shell $(PKG_CONFIG) --cflags $(PKGS) | sed 's/-I/-isystem /g') -isystem $(GEN)/proto)
# ncursesw is only in PKG_LIBS, because its compiler flags select other language standards than ours.
PKG_LIBS = $(call once,PKG_LIBS,$(shell $(PKG_CONFIG) --libs $(PKGS) ncursesw) -lpthread -lm)
# The files that match pattern $(2) in the folders $(1) and up to two levels below them.
files = $(wildcard $(foreach d,$(1),$(addprefix $(d)/,$(2) */$(2) */*/$(2))))
DIRS := $(addprefix -I,$(patsubst %/,%,$(sort $(dir $(call files,daemon hw k8s include/loop,*.h)))))

BPF_SRC := $(wildcard bpf/*.bpf.c)
SKELS := $(BPF_SRC:bpf/%.bpf.c=$(GEN)/%.skel.h)
PROTO := $(patsubst k8s/proto/%.proto,$(GEN)/proto/%.pb-c,$(wildcard k8s/proto/*.proto))
# Files that must exist before any source is compiled.
GENERATED = $(SKELS) $(PROTO:=.h) $(GEN)/version.h $(GEN)/revision.h $(GEN)/web_document.h $(GEN)/runbook_rows.h
# Sources with a main().
MAIN := daemon/main.c daemon/ctl/rocectl.c k8s/cni/rocelet_cni.c
SRC := $(filter-out $(MAIN),$(call files,daemon hw k8s include,*.c))
UNIT := $(call files,tests/unit,*.c)
# KILL_POINTS=1 compiles only the sources that contain kill points again; the other objects are those of a build without KILL_POINTS.
KILLS := $(if $(filter 1,$(KILL_POINTS)),$(shell grep -liE 'kill_points?\b' $(SRC) $(UNIT)))
objects = $(patsubst %.c,$(B)/%.o,$(filter $(KILLS),$(1))) $(patsubst %.c,$(BASE)/%.o,$(filter-out $(KILLS),$(1)))
OBJ := $(call objects,$(SRC)) $(PROTO:$(GEN)/%=$(B)/gen/%.o)
LIB := $(B)/librocelet.a
# Each folder of tests/unit is one program, with the files of its subfolders.
FOLDERS := $(sort $(foreach u,$(UNIT),$(word 3,$(subst /, ,$(u)))))
TESTS := $(FOLDERS:%=$(B)/tests/%)
BENCHES := $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))
INTEROP := $(patsubst tests/interop/%.c,$(B)/interop/%,$(wildcard tests/interop/*.c))
# main() of the unit tests; it is not linked into the benchmarks.
GROUPS := tests/lib/test_group.c
TESTLIB := $(call objects,$(filter-out $(GROUPS),$(wildcard tests/lib/*.c)))
FUZZ := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

# The manual is printed by the program. A program for another architecture cannot run here, so that build has no manual.
MANUAL := $(if $(SYSROOT),,$(B)/rocectl.8)

all: $(B)/rocelet $(B)/rocectl $(B)/rocelet-cni $(MANUAL) ## build the daemon, its command and its CNI plugin: build/rocelet, rocectl and rocelet-cni, and the manual

$(B)/rocelet: $(B)/daemon/main.o $(LIB)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) -o $@ $^ $(PKG_LIBS)

$(B)/rocectl: $(B)/daemon/ctl/rocectl.o $(LIB)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) -o $@ $^ $(PKG_LIBS)

# Linked statically, because it is copied to hosts that may lack our libraries. With sanitizers it is linked dynamically, because they require it.
$(B)/rocelet-cni: $(B)/k8s/cni/rocelet_cni.o $(LIB)
	$(Q)$(CC) $(CFLAGS) $(if $(filter 0,$(SAN)),-static-pie $(filter-out -pie,$(LDHARDEN)),$(LDHARDEN)) -o $@ $^ -ljansson

$(B)/rocectl.8: $(B)/rocectl
	$(Q)$< __man > $@

$(LIB): $(OBJ)
	$(Q)rm -f $@ && ar rcsT $@ $^

# Rewritten if the version changes; then all sources that include it are compiled again.
$(GEN)/version.h:
	$(Q)mkdir -p $(@D)
	$(Q)echo '#define ROCELET_VERSION "$(VERSION)"' > $@
ifneq ("$(VERSION)",$(shell sed -n 's/^.define ROCELET_VERSION //p' $(GEN)/version.h 2>/dev/null))
.PHONY: $(GEN)/version.h
endif

# A separate file, because it changes with every commit, and few sources include it.
$(GEN)/revision.h:
	$(Q)mkdir -p $(@D)
	$(Q)echo '#define ROCELET_REVISION "$(REVISION)"' > $@
ifneq ("$(REVISION)",$(shell sed -n 's/^.define ROCELET_REVISION //p' $(GEN)/revision.h 2>/dev/null))
.PHONY: $(GEN)/revision.h
endif

define COMPILE
$(Q)mkdir -p $(@D)
$(Q)$(CACHED) $(CC) $(CPPFLAGS) $(DIRS) $(PKG_CFLAGS) -MMD -MP $(CFLAGS) -c $< -o $@
endef

$(B)/%.o: %.c | $(GENERATED)
	$(COMPILE)

ifneq ($(B),$(BASE))
$(BASE)/%.o: %.c | $(GENERATED)
	$(COMPILE)
endif

# --- the page: sources and npm packages -> one document -> a C array -----------------------------
NPM_DIR := build/npm

$(GEN)/web_document.h: $(addprefix daemon/web/,document.py markdown.py npm.py packages) docs/runbook.md docs/fleet.md docs/reference/config.schema.json $(wildcard daemon/web/*.html daemon/web/*.css daemon/web/*.js) $(GEN)/version.h
	$(Q)mkdir -p $(@D) $(NPM_DIR)
	$(Q)python3 -B daemon/web/document.py daemon/web $(NPM_DIR) docs/runbook.md docs/reference/config.schema.json $(VERSION) $@

$(GEN)/runbook_rows.h: daemon/diagnosis/runbook_text.py docs/runbook.md
	$(Q)mkdir -p $(@D)
	$(Q)python3 -B daemon/diagnosis/runbook_text.py docs/runbook.md $@

# --- BPF: object -> skeleton -> the C code that loads it ---------------------------------------
# The only architecture-dependent part of a BPF program are the registers that hold the arguments of a kprobe.
BPF_ARCH := $(patsubst amd64,x86,$(ARCH))
BPF_CFLAGS := -g -O2 $(PLACELESS) -Wall -Wextra -Werror -Wno-unused-parameter -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -I. -Iinclude -Ibpf

$(GEN)/%.bpf.o: bpf/%.bpf.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -isystem $(SYSROOT)/usr/include/$(TRIPLET) -c $< -o $@

# `gen object` keeps BTF and drops DWARF, which is more than half of an object and of no use to the daemon.
$(GEN)/%.skel.h: $(GEN)/%.bpf.o
	$(Q)$(BPFTOOL) gen object $(@:.skel.h=.linked.o) $< && $(BPFTOOL) gen skeleton $(@:.skel.h=.linked.o) name $*_bpf > $@ 2>$(GEN)/bpftool.log || { cat $(GEN)/bpftool.log >&2; exit 1; }

# --- protobuf: .proto -> C ----------------------------------------------------------------------
$(GEN)/proto/%.pb-c.h $(GEN)/proto/%.pb-c.c &: k8s/proto/%.proto
	$(Q)mkdir -p $(@D)
	$(Q)protoc --c_out=$(@D) --proto_path=k8s/proto $<

# -w: no warnings about generated code.
PROTO_CFLAGS = -isystem $(GEN)/proto -std=gnu11 $(OPT) $(HARDEN) -w $(PLACELESS)

$(B)/gen/proto/%.pb-c.o: $(GEN)/proto/%.pb-c.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CACHED) $(CC) $(PROTO_CFLAGS) -c $< -o $@

# --- tests ------------------------------------------------------------------------------------
# Calls in our own objects that tests/lib/faults.c can make fail, fake_functions.c answers, and test_group.c counts.
WRAP := $(foreach f,malloc calloc realloc reallocarray strdup strndup send sendto write pwrite fsync fdatasync mknodat \
	nghttp2_session_server_new3 nghttp2_session_client_new3 _skip \
	function_unbind function_bind netdev_by_function vf_settings_get vf_settings_set nlsock_open netns_nlsock \
	rdma_netlink_mode rdma_by_name rdma_by_index rdma_netdev rdma_soft_on rdma_move rdma_rename rdma_make_rxe rdma_delete rdma_uverbs rdma_contexts \
	packet_port_open packet_port_close packet_port_read packet_port_flows packet_port_memory,-Wl,--wrap=$(f))

# Each program is linked with the whole library; gold, if it is installed, needs half the time for it.
LINK_TESTS = $(call once,LINK_TESTS,$(if $(shell command -v ld.gold),-fuse-ld=gold))

$(foreach f,$(FOLDERS),$(eval $(B)/tests/$(f): $(call objects,$(filter tests/unit/$(f)/%,$(UNIT)))))
$(TESTS): $(call objects,$(GROUPS)) $(TESTLIB) $(LIB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) $(WRAP) $(LINK_TESTS) -o $@ $(filter %.o,$^) $(LIB) $(PKG_LIBS) -lcmocka

$(sort $(B)/tests/unit/%.o $(BASE)/tests/unit/%.o): DIRS += -Itests/lib

tests: $(TESTS) $(BENCHES) $(INTEROP) ## build the unit tests, benchmarks and interoperability programs

# The objects of which a second compiler is to check the warnings, without programs; it compiles the other sources for the fuzz programs.
test-objects: $(foreach t,$(UNIT) $(wildcard tests/lib/*.c tests/bench/*.c tests/interop/*.c) $(MAIN),$(B)/$(t:.c=.o))

$(B)/bench/%: $(B)/tests/bench/%.o $(LIB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) -o $@ $^ $(PKG_LIBS)

# This benchmark uses the simulated node of the tests.
$(B)/bench/bench_gate: $(B)/tests/bench/bench_gate.o $(TESTLIB) $(LIB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) $(filter-out %=_skip,$(WRAP)) -o $@ $^ $(PKG_LIBS) -lcmocka

# These benchmarks use the simulated ports of the tests.
$(B)/bench/bench_verdicts: $(B)/tests/lib/imperfect.o
$(B)/bench/bench_diagnosis $(B)/bench/bench_verdicts: $(B)/bench/%: $(B)/tests/bench/%.o $(B)/tests/lib/diagnosis_world.o $(LIB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) -o $@ $^ $(PKG_LIBS)

$(addprefix $(B)/tests/bench/bench_,gate.o diagnosis.o verdicts.o): DIRS += -Itests/lib

$(B)/interop/%: $(B)/tests/interop/%.o $(LIB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) -o $@ $^ $(PKG_LIBS)

# The library is instrumented, too: without coverage of its branches a fuzzer finds nothing.
FUZZ_FLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

build/fuzz/obj/%.o: %.c | $(GENERATED)
	$(Q)mkdir -p $(@D)
	$(Q)$(CACHED) $(CLANG) $(CPPFLAGS) $(DIRS) $(PKG_CFLAGS) -MMD -MP -std=gnu11 -O1 -g $(WARN) $(FUZZ_FLAGS) $(PLACELESS) -c $< -o $@

build/fuzz/obj/gen/proto/%.pb-c.o: $(GEN)/proto/%.pb-c.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CACHED) $(CLANG) -isystem $(GEN)/proto -std=gnu11 -O1 -g -w $(FUZZ_FLAGS) $(PLACELESS) -c $< -o $@

build/fuzz/librocelet.a: $(SRC:%.c=build/fuzz/obj/%.o) $(PROTO:$(GEN)/%=build/fuzz/obj/gen/%.o)
	$(Q)rm -f $@ && ar rcs $@ $^

build/fuzz/%: build/fuzz/obj/tests/fuzz/%.o build/fuzz/librocelet.a
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(PKG_LIBS)

fuzz: $(FUZZ) ## build the fuzz programs, build/fuzz/*

-include $(OBJ:.o=.d) $(call files,$(B)/tests/unit,*.d) $(wildcard $(B)/tests/*/*.d $(GEN)/*.d) $(MAIN:%.c=$(B)/%.d)
-include $(call files,build/fuzz/obj/include build/fuzz/obj/daemon build/fuzz/obj/hw build/fuzz/obj/k8s build/fuzz/obj/tests,*.d)

# --- commands -----------------------------------------------------------------------------------
deps: ## install the Debian packages needed to build and test (12 and 13)
	$(Q)tests/deps.sh

check: ## run the core of every kind of test: unit tests, a real kubelet, sanitizers, fuzz smoke, the lab (root)
	$(Q)tests/check.sh

lint: ## run both compilers, formatting, include rules, shellcheck, the documents; clang-tidy and cppcheck on sources that changed since they passed
	$(Q)tests/check.sh lint

lint-all: ## like lint, with clang-tidy and cppcheck on every source
	$(Q)LINT_ALL=1 tests/check.sh lint

check-unit: ## run only the unit tests
	$(Q)tests/check.sh unit

check-ship: deps ## test the manifests, the image and the package, and compare two builds (root)
	$(Q)tests/check.sh ship

check-arm64: ## run the unit tests and test the image for arm64, under QEMU; the builds take minutes (root)
	$(Q)tests/ship/arm64.sh

check-kubelet: deps ## test the device plugin with a real kubelet, which is built once, in 3 to 8 minutes (root)
	$(Q)tests/check.sh kubelet

check-cluster: deps ## test an installation on two nodes of a real cluster, and RoCE between pods of both nodes; builds a control plane once (root)
	$(Q)tests/check.sh cluster

demo: deps ## show pods with a VF each and RoCE traffic in a virtual machine, live; builds a kubelet once, while a simpler demo runs (root)
	$(Q)$(MAKE) --no-print-directory -j3 all lab-image
	$(Q)tests/lab/lab.sh demo

demo-cluster: deps ## show rocelet on a Kubernetes cluster of two virtual machines, and RoCE between pods of both; builds a kubelet and a control plane once (root)
	$(Q)$(MAKE) --no-print-directory -j3 image lab-image
	$(Q)tests/lab/lab.sh cluster demo

lab-image:
	$(Q)tests/lab/lab.sh image

run: all ## run the daemon on this host; without a configuration it only observes
	$(B)/rocelet $(ARGS)

lab-shell: deps all ## open a shell inside the lab's virtual machine (root)
	$(Q)tests/lab/lab.sh shell

bench: deps ## compare the costs with prometheus-node-exporter's, in one run (root)
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)tests/bench/bench.sh

check-kernels: deps ## run the lab's BPF scenarios on Debian's kernels 6.1, 6.12 and the newest, and list the programs that load there (root)
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)tests/check.sh --all lab/bpf_events lab/bpf_packets

soak: deps ## run every test in its longest form, for hours; 10,000 random histories of the attach engine; scrapes and changes under valgrind
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)tests/bench/soak.sh

golden: all tests k8s/deploy/monitoring/prometheusrule.yaml ## rewrite the golden files and the generated docs; review the diff
	$(Q)for t in $(TESTS); do UPDATE_GOLDEN=1 $$t >/dev/null 2>&1 || true; done; k8s/deploy/monitoring/dashboards.py; tests/ship/runbook.py --write; k8s/deploy/monitoring/rules.py --operator >k8s/deploy/monitoring/prometheusrule.yaml; tests/check/table.py; $(B)/rocelet --print-schema >docs/reference/config.schema.json; \
		kubectl=$$(tests/ship/helm.sh) && k8s/deploy/before-1.30.py $${kubectl#* }; git diff --stat -- docs tests/golden k8s/deploy

# Generated, because kustomize cannot insert a file into an object.
k8s/deploy/monitoring/prometheusrule.yaml: k8s/deploy/monitoring/rules.yaml k8s/deploy/monitoring/rules.py
	$(Q)k8s/deploy/monitoring/rules.py --operator > $@

docs: golden

turn: ## start the next turn after a merge: CI runs the next third of the tests, and compares changes with this commit
	$(Q)echo $$(($$(cat .ci/turn) + 1)) > .ci/turn
	$(Q)git commit --quiet -m "turn $$(cat .ci/turn)" -- .ci/turn

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')

fmt: ## format the sources
	$(Q)clang-format -i $(SOURCES)

fmt-check:
	$(Q)clang-format --dry-run -Werror $(SOURCES)

check-deps: all ## check the include rules, circular calls between files, and names that are used in several files
	$(Q)tests/check-deps.sh
	$(Q)python3 tests/check-circles.py $(B)
	$(Q)python3 tests/check-names.py daemon hw k8s include

# Sources that passed are not analyzed again until they change (tests/lint/lint.py). LINT_ALL=1 analyzes all of them.
cppcheck: $(GENERATED)
	$(Q)tests/lint/lint.py cppcheck $(SRC) $(MAIN) -- --inline-suppr --std=c11 --enable=warning,performance,portability \
		--suppress=missingIncludeSystem --suppress=checkersReport --suppress=funcArgOrderDifferent --suppress=normalCheckLevelMaxBranches -D_GNU_SOURCE -D__x86_64__ \
		-Iinclude $(DIRS)

# Maximum number of steps that the analyzer follows in a function. Its default, 225000, which make soak uses, takes four times as long.
TIDY_STEPS := 40000
tidy: $(GENERATED)
	$(Q)tests/lint/lint.py clang-tidy $(SRC) $(MAIN) -- -std=gnu11 $(CPPFLAGS) $(DIRS) \
		$(PKG_CFLAGS) -Xclang -analyzer-config -Xclang max-nodes=$(TIDY_STEPS)

install: install-programs ## install usr/sbin/rocelet, usr/sbin/rocectl, usr/libexec/rocelet/rocelet-cni, rocectl's manual and shell completions into DESTDIR
	$(Q)install -D -m 644 $(MANUAL) $(DESTDIR)/usr/share/man/man8/rocectl.8
	$(Q)mkdir -p $(DESTDIR)/usr/share/bash-completion/completions $(DESTDIR)/usr/share/zsh/vendor-completions $(DESTDIR)/usr/share/fish/vendor_completions.d
	$(Q)$(B)/rocectl completion bash >$(DESTDIR)/usr/share/bash-completion/completions/rocectl
	$(Q)$(B)/rocectl completion zsh >$(DESTDIR)/usr/share/zsh/vendor-completions/_rocectl
	$(Q)$(B)/rocectl completion fish >$(DESTDIR)/usr/share/fish/vendor_completions.d/rocectl.fish

install-programs: all
	$(Q)install -D $(INSTALL_FLAGS) -m 755 $(B)/rocelet $(DESTDIR)/usr/sbin/rocelet
	$(Q)install -D $(INSTALL_FLAGS) -m 755 $(B)/rocectl $(DESTDIR)/usr/sbin/rocectl
	$(Q)install -D $(INSTALL_FLAGS) -m 755 $(B)/rocelet-cni $(DESTDIR)/usr/libexec/rocelet/rocelet-cni

# --- images, packages and releases -------------------------------------------------------------
# The registry to which images are pushed: the first part of their names.
REGISTRY ?= localhost
IMAGE_NAME := $(REGISTRY)/rocelet:$(VERSION)
WHEN := SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null)}
IMAGE := $(BUILD)/rocelet-$(VERSION)-$(ARCH).tar

rootfs: all
	$(Q)rm -rf $(BUILD)/rootfs
	$(Q)$(MAKE) --no-print-directory install-programs DESTDIR=$(BUILD)/rootfs INSTALL_FLAGS='-s --strip-program=$(TRIPLET)-strip'
	$(Q)k8s/deploy/image/rootfs.sh $(BUILD)/rootfs $(TRIPLET) $(SYSROOT)
	$(Q)$(WHEN) k8s/deploy/image/sbom.py $(BUILD)/rootfs $(ARCH) $(VERSION)

image: rootfs ## build the image for Kubernetes, build/rocelet-VERSION-ARCH.tar, without Docker; ARCH=arm64 builds build/arm64/...
	$(Q)$(WHEN) k8s/deploy/image/oci.py $(BUILD)/rootfs $(IMAGE) $(IMAGE_NAME) $(ARCH)
	$(Q)echo "$(IMAGE): $(IMAGE_NAME), $$(du -sh $(BUILD)/rootfs | cut -f1) unpacked"

# An image with which the example perftest.yaml installs no packages, for clusters without access to the internet.
PERFTEST := $(BUILD)/perftest-$(VERSION)-$(ARCH).tar

perftest-image: ## build an image with Debian's perftest for the example, build/perftest-VERSION-ARCH.tar, named REGISTRY/perftest:VERSION
	$(Q)k8s/deploy/image/perftest.sh $(ARCH) $(BUILD)/perftest
	$(Q)$(WHEN) k8s/deploy/image/oci.py $(BUILD)/perftest $(PERFTEST) $(REGISTRY)/perftest:$(VERSION) $(ARCH)
	$(Q)echo "$(PERFTEST): $(REGISTRY)/perftest:$(VERSION), $$(du -sh $(BUILD)/perftest | cut -f1) unpacked"

chart: ## build the Helm chart, build/rocelet-VERSION.tgz, from the overlays of k8s/deploy with kubectl: KUBECTL=..., the one in PATH, or a downloaded one
	$(Q)kubectl=$$(KUBECTL='$(KUBECTL)' k8s/deploy/kubectl.sh) && SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null)} \
		k8s/deploy/helm/chart.py "$$kubectl" $(VERSION) $(BUILD)/rocelet-$(VERSION).tgz
	$(Q)echo $(BUILD)/rocelet-$(VERSION).tgz

# One folder with all files of a release. SIGN_WITH is a command that reads the bytes to sign from standard input and prints their signature:
# `openssl dgst -sha256 -sign key.pem`, or a call of a key service.
RELEASE := build/release/$(VERSION)
RELEASE_ARCHS ?= amd64 arm64
RELEASED := $(foreach a,$(RELEASE_ARCHS),build/$(if $(filter $(NATIVE_ARCH),$(a)),,$(a)/)rocelet-$(VERSION)-$(a).tar)
SIGN_WITH ?=

release: ## build a release in build/release/VERSION: one image for RELEASE_ARCHS, SBOMs, the chart, the schema, checksums; REGISTRY=..., SIGN_WITH=COMMAND
	$(Q)k8s/deploy/image/release.py check
	$(Q)for a in $(RELEASE_ARCHS); do $(MAKE) --no-print-directory ARCH=$$a image || exit 1; done
	$(Q)$(MAKE) --no-print-directory chart
	$(Q)rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	$(Q)$(WHEN) k8s/deploy/image/release.py index $(RELEASE)/rocelet-$(VERSION).oci.tar $(IMAGE_NAME) $(RELEASED)
	$(Q)for i in $(RELEASED); do k8s/deploy/image/release.py sbom $$i $(RELEASE)/$$(basename $$i .tar).spdx.json || exit 1; done
	$(Q)cp build/rocelet-$(VERSION).tgz $(RELEASE)/
	$(Q)cp docs/reference/config.schema.json $(RELEASE)/rocelet-$(VERSION).schema.json
	$(Q)[ -z "$(SIGN_WITH)" ] || $(WHEN) k8s/deploy/image/release.py sign $(RELEASE)/rocelet-$(VERSION).oci.tar $(IMAGE_NAME) "$(SIGN_WITH)"
	$(Q)k8s/deploy/image/release.py sums $(RELEASE)
	$(Q)[ -z "$(SIGN_WITH)" ] || sh -c '$(SIGN_WITH)' <$(RELEASE)/SHA256SUMS >$(RELEASE)/SHA256SUMS.sig
	$(Q)cd $(RELEASE) && ls -l

# Debian's tools require debian/ at the top of the sources, but ours is daemon/debian; so they work on a copy.
DEB := build/deb/rocelet-$(VERSION)

deb: ## build the Debian package of this machine's architecture, build/deb/rocelet_VERSION_ARCH.deb
	$(Q)tests/deps.sh deb
	$(Q)rm -rf build/deb && mkdir -p $(DEB)
	$(Q)git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ ! -e "$$f" ] || cp -P --parents "$$f" $(DEB) || [ ! -e "$$f" ]; done' sh
	$(Q)mv $(DEB)/daemon/debian $(DEB)/debian
	$(Q)cd $(DEB) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS dpkg-buildpackage --build=binary --no-sign >../build.log 2>&1 || { tail -n 40 ../build.log >&2; exit 1; }
	$(Q)ls build/deb/*.deb

clean: ## remove build/
	$(Q)rm -rf build

help: ## print this list
	$(Q)sed -n 's/^\([a-z0-9-]*\):.*## /  \1\t/p' Makefile | expand -t 16

.PHONY: all test-objects rootfs image perftest-image chart release deb check-ship check-arm64 check-cluster tests fuzz deps check lint lint-all check-unit check-kubelet check-kernels demo demo-cluster lab-image run lab-shell bench soak golden docs turn fmt fmt-check check-deps \
	cppcheck tidy install install-programs clean help
.SECONDARY:
.DELETE_ON_ERROR:
