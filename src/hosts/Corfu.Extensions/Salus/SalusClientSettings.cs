using Corfu.Client;
using Microsoft.Extensions.Options;
using Salus;

namespace Corfu.Extensions;

/// <summary>How a host uses volumes.</summary>
public sealed class SalusClientSettings
{
    /// <summary>The connection string of the log, <c>corfu://host:port,...</c>, as <c>corfu salus up</c> prints it. Its
    /// encryption and certificates count for the nodes too.</summary>
    public string ConnectionString { get; set; } = "";

    /// <summary>Limits and times of mounted volumes.</summary>
    public SalusClientOptions Client { get; set; } = new();

    /// <summary>How long the host's start waits for the log. At zero the connection is opened when it is first needed.
    /// Default 30 s.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(30);
}

internal sealed class SalusClientSettingsValidator : IValidateOptions<SalusClientSettings>
{
    public ValidateOptionsResult Validate(string? name, SalusClientSettings options)
    {
        ConnectionString.TryParse(options.ConnectionString, out _, out var fault);
        return HostClientFaults.Find(name, fault, options.ConnectTimeout, options.Client.Validate);
    }
}
