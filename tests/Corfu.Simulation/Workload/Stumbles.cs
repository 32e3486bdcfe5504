using Tango;

namespace Corfu.Simulation.Workload;

/// <summary>
/// R23: lets Apply fail at one client and at no other: its gate, half-way through, once for each of some tickets of the
/// other clients. It flows from where the client starts into its playback.
/// </summary>
public sealed class Stumbles
{
    private const int Every = 5;

    private static readonly AsyncLocal<Stumbles?> s_current = new();

    private readonly HashSet<long> _own = [];
    private readonly HashSet<long> _stumbled = [];

    /// <summary>Of this client from here on.</summary>
    public static void Begin() => s_current.Value = new Stumbles();

    /// <summary>A ticket of this client: its calls are told what becomes of it, and apply it themselves within a
    /// transaction.</summary>
    public static void Spare(long ticket) => s_current.Value?._own.Add(ticket);

    public static void At(long ticket)
    {
        if (s_current.Value is { } stumbles && ticket % Every == 0 && !stumbles._own.Contains(ticket)
            && stumbles._stumbled.Add(ticket)) throw new StumbleException();
    }

    public static bool Explains(TangoObjectStoppedException stopped) =>
        stopped is { InnerException: StumbleException, WasRebuilt: false };

    private sealed class StumbleException : Exception;
}
