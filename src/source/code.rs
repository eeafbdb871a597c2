//! The kinds of problems with an input.

use crate::words::serialize_as_str;
use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident: $word:literal,)+) => {
        /// The kind of a problem with an input. Code decides by this, people read the message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(
                #[doc = concat!("`", $word, "`.")]
                $(#[$doc])*
                $name,
            )+
        }

        impl Code {
            /// Its name in JSON: kebab-case, stable.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => $word,)+
                }
            }
        }
    };
}

codes! {
    BadCapture: "bad-capture",
    BadTimestamp: "bad-timestamp",
    BinaryFile: "binary-file",
    CannotList: "cannot-list",
    CannotRead: "cannot-read",
    Configuration: "configuration",
    CustomRule: "custom-rule",
    DumpNoPlace: "dump-no-place",
    DumpNoSuchResource: "dump-no-such-resource",
    DumpNotJson: "dump-not-json",
    DumpNotUtf8: "dump-not-utf8",
    DumpOfIstiod: "dump-of-istiod",
    DumpOfZtunnel: "dump-of-ztunnel",
    DumpStrangeNode: "dump-strange-node",
    DumpTooLarge: "dump-too-large",
    DumpTooLong: "dump-too-long",
    DumpTrailingText: "dump-trailing-text",
    DumpTruncated: "dump-truncated",
    DumpTwice: "dump-twice",
    DumpUnreadable: "dump-unreadable",
    DumpWithoutNode: "dump-without-node",
    EmptyDirectory: "empty-directory",
    EmptyInput: "empty-input",
    FilterTwice: "filter-twice",
    Interrupted: "interrupted",
    JsonSyntax: "json-syntax",
    LegacyApi: "legacy-api",
    LinkOutside: "link-outside",
    MisplacedField: "misplaced-field",
    MissingKind: "missing-kind",
    MissingName: "missing-name",
    MisspeltField: "misspelt-field",
    NoControlPlane: "no-control-plane",
    NoDump: "no-dump",
    NoEnvoyFilter: "no-envoy-filter",
    NoIstio: "no-istio",
    NoKind: "no-kind",
    NoMeshConfig: "no-mesh-config",
    NoNamespace: "no-namespace",
    NotADump: "not-a-dump",
    NotAllowed: "not-allowed",
    NotKubernetes: "not-kubernetes",
    NotReady: "not-ready",
    NotRendered: "not-rendered",
    NotUtf8: "not-utf8",
    NothingToDelete: "nothing-to-delete",
    NullValue: "null-value",
    OtherKind: "other-kind",
    OtherProxy: "other-proxy",
    OtherRevision: "other-revision",
    RefusedByEnvoy: "refused-by-envoy",
    ServerChanges: "server-changes",
    ServerNotAsked: "server-not-asked",
    ServerRefuses: "server-refuses",
    ServerWarns: "server-warns",
    SeveralMatchObjects: "several-match-objects",
    TestFile: "test-file",
    TooLarge: "too-large",
    UnknownEnumValue: "unknown-enum-value",
    UnknownField: "unknown-field",
    UnknownRelease: "unknown-release",
    UnknownRule: "unknown-rule",
    WrongApiVersion: "wrong-api-version",
    WrongType: "wrong-type",
    Yaml11Surprise: "yaml-1.1-surprise",
    YamlAliasBomb: "yaml-alias-bomb",
    YamlDuplicateKey: "yaml-duplicate-key",
    YamlMergedKey: "yaml-merged-key",
    YamlSyntax: "yaml-syntax",
    YamlStops: "yaml-stops",
    YamlTextAfterEnd: "yaml-text-after-end",
    YamlTemplate: "yaml-template",
    YamlTooDeep: "yaml-too-deep",
    YamlTooManyValues: "yaml-too-many-values",
}

impl Code {
    /// Whether some requested input was not read, whatever the severity.
    pub(crate) const fn is_unread(self) -> bool {
        matches!(
            self,
            Code::NoDump
                | Code::NotReady
                | Code::Interrupted
                | Code::NoMeshConfig
                | Code::NoControlPlane
                | Code::NotAllowed
                | Code::CannotList
        )
    }

    /// Whether a config dump could not be used.
    pub(crate) const fn is_dump(self) -> bool {
        matches!(
            self,
            Code::DumpNotJson
                | Code::DumpNotUtf8
                | Code::DumpOfZtunnel
                | Code::DumpTooLarge
                | Code::DumpTooLong
                | Code::DumpTruncated
                | Code::DumpUnreadable
                | Code::DumpWithoutNode
                | Code::NotADump
        )
    }

    /// Whether an input that was named contains nothing.
    pub(crate) const fn is_empty_input(self) -> bool {
        matches!(self, Code::EmptyInput | Code::EmptyDirectory | Code::NoEnvoyFilter)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

serialize_as_str!(Code);
