namespace Corfu.Grpc;

/// <summary>Names of the authorization policies that calls are checked by; <see cref="MethodAccess"/> says which call
/// needs which. A policy of the host's own with one of these names replaces the default, which goes by the caller's
/// role (<see cref="CorfuClaims.Role"/>) and by the access file.</summary>
public static class CorfuPolicies
{
    /// <summary>Any caller that is authenticated and has a role.</summary>
    public const string Caller = "corfu.caller";

    /// <summary>Reading the policy's resource, a <see cref="CorfuResource"/>.</summary>
    public const string Read = "corfu.read";

    /// <summary>Changing the policy's resource, a <see cref="CorfuResource"/>.</summary>
    public const string Write = "corfu.write";

    /// <summary>Releasing entries of the log for good.</summary>
    public const string Trim = "corfu.trim";

    /// <summary>Looking at the cluster and its history.</summary>
    public const string ClusterRead = "corfu.cluster.read";

    /// <summary>Changing the cluster.</summary>
    public const string ClusterChange = "corfu.cluster.change";

    internal static ImmutableArray<string> All { get; } = [Caller, Read, Write, Trim, ClusterRead, ClusterChange];
}
