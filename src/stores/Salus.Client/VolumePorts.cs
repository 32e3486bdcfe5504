using Microsoft.Extensions.Logging;

namespace Salus;

/// <summary>The ports of a mounted volume.</summary>
internal sealed record VolumePorts(IVolumeLog Log, ITransport Transport, TimeProvider Time, IEntropy Entropy,
    LoopContext Loops, ILogger Logger)
{
    /// <summary>Called once, when the volume is mounted no more.</summary>
    public Func<ValueTask> Closed { get; init; } = static () => ValueTask.CompletedTask;

    public MemberAsker Asker(SalusClientOptions options, Action<int, Epoch, Incarnation, SuspicionKind> suspect) =>
        new(Log, new AskPorts(Transport, Time, Loops, new MemberLoad(), options.ReadPatience, suspect),
            options.Patience, Entropy);
}
