using Microsoft.Extensions.Logging;
using Tango.Calls;

namespace Tango.Playback;

/// <summary>What the player needs of the rest of its runtime.</summary>
internal sealed record PlayerContext(CallBatcher Calls, ILogger Logger);
