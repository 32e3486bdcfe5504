using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace Corfu.Orleans;

/// <summary>Names of the providers' objects. An object that a cluster forgets when it is deployed anew has the
/// cluster's id; an object that outlives it has the service's.</summary>
public sealed class ObjectNames(IOptions<CorfuOrleansOptions> options, IOptions<ClusterOptions> cluster)
{
    internal string ClusterId => cluster.Value.ClusterId;

    internal string ServiceId => cluster.Value.ServiceId;

    internal string Membership(string clusterId) => Of(clusterId, "membership");

    internal string Directory(string provider) => Of(ClusterId, "directory", provider);

    /// <summary>Names of all directories of a cluster begin so.</summary>
    internal string Directories(string clusterId) => Of(clusterId, "directory") + "/";

    internal string State(string provider) => Of(ServiceId, "state", provider);

    /// <summary>The lock of the silo that writes old states of the provider again.</summary>
    internal string StateCompaction(string provider) => Of(ServiceId, "state", provider, "compaction");

    /// <summary>The list of a service's journals.</summary>
    public string Journals => Of(ServiceId, "journals");

    internal string Reminders => Of(ServiceId, "reminders");

    /// <summary>Parts stay apart whatever characters they have.</summary>
    internal static string Escape(string part) => Uri.EscapeDataString(part);

    private string Of(params ReadOnlySpan<string> parts)
    {
        var name = Escape(options.Value.ObjectPrefix);
        foreach (var part in parts) name += "/" + Escape(part);
        return name;
    }
}
