using Tango;

namespace Corfu.Extensions;

/// <summary>The host's Tango runtime.</summary>
public sealed class TangoSettings
{
    /// <summary>Limits of the runtime.</summary>
    public TangoOptions Runtime { get; set; } = new();
}
