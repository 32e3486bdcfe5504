using Corfu.Client;

namespace Corfu.Extensions;

/// <summary>The host's one connection to its cluster.</summary>
public interface ICorfuConnection
{
    /// <summary>The client, connected; the first call connects and the others share it. The host owns it.</summary>
    /// <exception cref="ClusterNotFoundException">No cluster there (now): a later call tries again.</exception>
    Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default);
}
