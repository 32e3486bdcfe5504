using Corfu.Client;

namespace Corfu.Extensions;

/// <summary>How a host's Corfu client connects.</summary>
public sealed class CorfuClientSettings
{
    /// <summary><c>corfu://host:port,...</c>, as <c>corfu cluster up</c> prints it.</summary>
    public string ConnectionString { get; set; } = "";

    /// <summary>Limits and times of the client.</summary>
    public CorfuClientOptions Client { get; set; } = new();

    /// <summary>
    /// How long the host's start waits for the cluster; zero does not wait, and the client connects when it is first
    /// needed.
    /// </summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(30);
}
