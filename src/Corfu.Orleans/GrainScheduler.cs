using System.Runtime.CompilerServices;

namespace Corfu.Orleans;

/// <summary>Of the activation that calls a provider.</summary>
internal static class GrainScheduler
{
    /// <summary>The rest of the calling method runs on the thread pool. Playback and batches run where the call runs
    /// that starts them, for all callers of the silo: one grain's long turn would hold up the others and the
    /// membership.</summary>
    public static ConfiguredTaskAwaitable Leave() =>
        Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
}
