using Corfu.Client;
using Microsoft.Extensions.Options;

namespace Corfu.Extensions;

/// <summary>Every fault of a client's settings, in one message.</summary>
public sealed class CorfuClientSettingsValidator : IValidateOptions<CorfuClientSettings>
{
    public ValidateOptionsResult Validate(string? name, CorfuClientSettings options)
    {
        List<string> faults = [];
        if (!ConnectionString.TryParse(options.ConnectionString, out _, out var fault))
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

        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);
    }
}
