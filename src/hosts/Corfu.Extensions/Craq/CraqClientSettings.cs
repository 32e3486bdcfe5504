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

/// <summary>All faults in one message.</summary>
internal sealed class CraqClientSettingsValidator : IValidateOptions<CraqClientSettings>
{
    public ValidateOptionsResult Validate(string? name, CraqClientSettings options)
    {
        List<string> faults = [];
        if (!CraqConnectionString.TryParse(options.ConnectionString, out _, out var fault))
            faults.Add("ConnectionString: " + fault);
        if (options.ConnectTimeout < TimeSpan.Zero) faults.Add("ConnectTimeout: it must not be negative.");
        try
        {
            options.Client.Validate();
        }
        catch (ArgumentException e)
        {
            faults.Add("Client: " + e.Message);
        }

        var prefix = string.IsNullOrEmpty(name) ? "" : $"Client '{name}': ";
        return faults.Count == 0
            ? ValidateOptionsResult.Success
            : ValidateOptionsResult.Fail(faults.Select(fault => prefix + fault));
    }
}
