using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Calls;

namespace Tango.Playback;

/// <summary>What playback uses of the rest of its runtime.</summary>
/// <param name="Loader">Where playback of a cohort starts.</param>
/// <param name="Loops">Where playback runs, for all callers.</param>
internal sealed record PlaybackContext(
    ICorfuLog Log, Func<IStreamCursor> OpenCursor, CallBatcher Calls, CohortLoader Loader, IPlaybackDirectory Directory,
    TangoOptions Options, TimeProvider Time, LoopContext Loops, IEntropy Entropy, ILogger Logger);
