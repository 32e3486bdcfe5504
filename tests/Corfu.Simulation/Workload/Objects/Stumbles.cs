using System.Runtime.CompilerServices;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// R23: lets Apply fail at one client and at no other: its gate, half-way through, once for each of some tickets of the
/// other clients. The process that applies has it: nothing flows from a client's calls into its playback.
/// </summary>
public sealed class Stumbles
{
    private const int Every = 5;

    // By the context of a client's process.
    private static readonly ConditionalWeakTable<SynchronizationContext, Stumbles> s_ofProcesses = [];

    private readonly HashSet<long> _own = [];
    private readonly HashSet<long> _stumbled = [];

    private static Stumbles? Current =>
        SynchronizationContext.Current is { } process && s_ofProcesses.TryGetValue(process, out Stumbles? stumbles)
            ? stumbles
            : null;

    /// <summary>Lets views of the calling process stumble from here on.</summary>
    public static void Begin() => s_ofProcesses.AddOrUpdate(SynchronizationContext.Current!, new Stumbles());

    /// <summary>A ticket of this client: its calls are told what becomes of it, and apply it themselves within a
    /// transaction.</summary>
    public static void Spare(long ticket) => Current?._own.Add(ticket);

    public static void At(long ticket)
    {
        if (Current is { } stumbles && ticket % Every == 0 && !stumbles._own.Contains(ticket)
            && stumbles._stumbled.Add(ticket)) throw new StumbleException();
    }

    public static bool Explains(TangoObjectStoppedException stopped) =>
        stopped is { InnerException: StumbleException, WasRebuilt: false };

    private sealed class StumbleException : Exception;
}
