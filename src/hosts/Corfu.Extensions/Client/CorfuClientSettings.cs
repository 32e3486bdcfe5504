using Corfu.Client;
using Microsoft.Extensions.Options;

namespace Corfu.Extensions;

/// <summary>How a host's Corfu client connects.</summary>
public sealed class CorfuClientSettings
{
    /// <summary><c>corfu://host:port,...</c>, as <c>corfu cluster up</c> prints it.</summary>
    public string ConnectionString { get; set; } = "";

    /// <summary>Limits and times of the client.</summary>
    public CorfuClientOptions Client { get; set; } = new();

    /// <summary>How long the host's start waits for the cluster. At zero the client connects when it is first
    /// needed.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(30);
}

internal sealed class CorfuClientSettingsValidator : IValidateOptions<CorfuClientSettings>
{
    public ValidateOptionsResult Validate(string? name, CorfuClientSettings options)
    {
        ConnectionString.TryParse(options.ConnectionString, out _, out var fault);
        return HostClientFaults.Find(name, fault, options.ConnectTimeout, options.Client.Validate);
    }
}
