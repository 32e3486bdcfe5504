using System.Diagnostics.CodeAnalysis;

namespace Tango.ZooKeeper;

/// <summary>Names of the schemes of which nodes keep entries.</summary>
internal static class AclSchemes
{
    /// <summary>The name as a string that all entries share.</summary>
    [return: NotNullIfNotNull(nameof(scheme))]
    public static string? Shared(string? scheme) => scheme switch
    {
        "world" => "world",
        "ip" => "ip",
        "digest" => "digest",
        "x509" => "x509",
        _ => scheme,
    };
}
