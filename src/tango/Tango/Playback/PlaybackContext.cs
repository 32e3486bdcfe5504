using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Calls;

namespace Tango.Playback;

/// <summary>The parts of the runtime that playback uses.</summary>
/// <param name="Loader">Finds where playback of a cohort starts.</param>
/// <param name="Loops">Context in which playback runs, for all callers.</param>
internal sealed record PlaybackContext(
    ICorfuLog Log, Func<IStreamCursor> OpenCursor, CallBatcher Calls, CohortLoader Loader, IPlaybackDirectory Directory,
    TangoOptions Options, TimeProvider Time, LoopContext Loops, IEntropy Entropy, ILogger Logger);
