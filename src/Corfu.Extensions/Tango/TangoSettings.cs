using Microsoft.Extensions.Options;
using Tango;

namespace Corfu.Extensions;

/// <summary>The host's Tango runtime.</summary>
public sealed class TangoSettings
{
    /// <summary>Limits of the runtime.</summary>
    public TangoOptions Runtime { get; set; } = new();
}

/// <summary>All faults in one message.</summary>
internal sealed class TangoSettingsValidator : IValidateOptions<TangoSettings>
{
    public ValidateOptionsResult Validate(string? name, TangoSettings options)
    {
        var faults = options.Runtime.Faults().Select(static fault => "Runtime: " + fault).ToList();
        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);
    }
}
