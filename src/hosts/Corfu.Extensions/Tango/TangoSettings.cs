using Microsoft.Extensions.Options;
using Tango;

namespace Corfu.Extensions;

/// <summary>A Tango runtime of the host.</summary>
public sealed class TangoSettings
{
    /// <summary>The key of the client that it uses. Null: the client without a key.</summary>
    public string? ClientKey { get; set; }

    /// <summary>Limits of the runtime.</summary>
    public TangoOptions Runtime { get; set; } = new();
}

/// <summary>All faults in one message.</summary>
internal sealed class TangoSettingsValidator : IValidateOptions<TangoSettings>
{
    public ValidateOptionsResult Validate(string? name, TangoSettings options)
    {
        var prefix = string.IsNullOrEmpty(name) ? "Runtime: " : $"Runtime '{name}': ";
        var faults = options.Runtime.Faults().Select(fault => prefix + fault).ToList();
        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);
    }
}
