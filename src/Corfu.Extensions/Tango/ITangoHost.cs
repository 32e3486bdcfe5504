using Tango;

namespace Corfu.Extensions;

/// <summary>The host's one Tango runtime: all its objects share one playback order.</summary>
public interface ITangoHost
{
    /// <summary>The runtime over the host's client, made at the first call. The host owns it.</summary>
    Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default);
}
