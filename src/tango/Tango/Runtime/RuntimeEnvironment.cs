using Corfu;
using Microsoft.Extensions.Logging;

namespace Tango.Runtime;

/// <summary>The givens of a runtime: its log, and every source of variation.</summary>
/// <param name="OpenCursor">Makes a cursor over the log, at its beginning.</param>
internal sealed record RuntimeEnvironment(
    ICorfuLog Log, Func<IStreamCursor> OpenCursor, TangoOptions Options, TimeProvider Time, IEntropy Entropy,
    LoopContext Loops, ILogger Logger);
