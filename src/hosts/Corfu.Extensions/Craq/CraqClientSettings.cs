using Craq;
using Microsoft.Extensions.Options;

namespace Corfu.Extensions;

/// <summary>How a host's CRAQ client connects.</summary>
public sealed class CraqClientSettings
{
    /// <summary><c>craq://host:port,...</c>, as <c>corfu craq up</c> prints it.</summary>
    public string ConnectionString { get; set; } = "";

    /// <summary>Limits and times of the client.</summary>
    public CraqClientOptions Client { get; set; } = new();

    /// <summary>How long the host's start waits for a node. At zero the client connects when it is first
    /// needed.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(30);
}

internal sealed class CraqClientSettingsValidator : IValidateOptions<CraqClientSettings>
{
    public ValidateOptionsResult Validate(string? name, CraqClientSettings options)
    {
        CraqConnectionString.TryParse(options.ConnectionString, out _, out var fault);
        return HostClientFaults.Find(name, fault, options.ConnectTimeout, options.Client.Validate);
    }
}
