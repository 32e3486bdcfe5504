using Corfu.Client;
using Microsoft.Extensions.Logging;
using Tango.Calls;

namespace Tango.Playback;

/// <summary>What the player needs of the rest of its runtime.</summary>
/// <param name="GroupOf">The directory's entries of the object's group, or of the object alone; empty if the id is unknown.</param>
internal sealed record PlayerContext(
    CallBatcher Calls, ILogger Logger, Func<IStreamCursor> OpenCursor, Func<ObjectId, IReadOnlyList<DirectoryEntry>> GroupOf);
