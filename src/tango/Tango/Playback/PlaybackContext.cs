using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Chores;

namespace Tango.Playback;

/// <summary>The parts of the runtime that playback uses.</summary>
/// <param name="Loader">Finds where playback of a cohort starts.</param>
/// <param name="Loops">Context in which playback runs, for all callers.</param>
/// <param name="Chores">Runs what playback has to do later.</param>
internal sealed record PlaybackContext(
    ICorfuLog Log, Func<IStreamCursor> OpenCursor, CallBatcher Calls, CohortLoader Loader, IPlaybackDirectory Directory,
    TangoOptions Options, TimeProvider Time, LoopContext Loops, ChoreLoop Chores, IEntropy Entropy, ILogger Logger);
