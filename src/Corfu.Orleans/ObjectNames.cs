using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace Corfu.Orleans;

/// <summary>Names of the providers' objects. What one cluster forgets when it is deployed anew has the cluster's id;
/// what outlives it has the service's.</summary>
internal sealed class ObjectNames(IOptions<CorfuOrleansOptions> options, IOptions<ClusterOptions> cluster)
{
    public string ClusterId => cluster.Value.ClusterId;

    public string ServiceId => cluster.Value.ServiceId;

    public string Membership(string clusterId) => Of(clusterId, "membership");

    public string Directory(string provider) => Of(ClusterId, "directory", provider);

    /// <summary>Names of all directories of a cluster begin so.</summary>
    public string Directories(string clusterId) => Of(clusterId, "directory") + "/";

    public string State(string provider) => Of(ServiceId, "state", provider);

    /// <summary>The lock of the silo that writes old states of the provider again.</summary>
    public string StateCompaction(string provider) => Of(ServiceId, "state", provider, "compaction");

    public string Journals => Of(ServiceId, "journals");

    public string Reminders => Of(ServiceId, "reminders");

    /// <summary>Parts stay apart whatever characters they have.</summary>
    public static string Escape(string part) => Uri.EscapeDataString(part);

    private string Of(params ReadOnlySpan<string> parts)
    {
        var name = Escape(options.Value.ObjectPrefix);
        foreach (var part in parts) name += "/" + Escape(part);
        return name;
    }
}
