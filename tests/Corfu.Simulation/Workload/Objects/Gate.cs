using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// Lets a ticket pass or refuses it (R23), by what passed last. The refusal depends on more than the key that the call
/// reads, so a transaction that was let through on its snapshot can be refused where it is applied, and commits
/// nevertheless.
/// </summary>
[TangoObject("simulation.gate")]
public sealed partial class Gate : TangoObject
{
    private string? _last;

    /// <param name="ticket">The text of the number; apart from it, so that a scan of the log finds the text
    /// once.</param>
    /// <exception cref="TangoRejectedException">See <see cref="Refuses"/>.</exception>
    [Mutator(1, MayReject = true)]
    public partial ValueTask PassAsync([VersionKey] long number, string ticket,
        CancellationToken cancellationToken = default);

    /// <summary>The ticket that passed last.</summary>
    [Accessor]
    public partial ValueTask<string?> LastAsync(CancellationToken cancellationToken = default);

    /// <summary>Told by the numbers of the tickets: the last one's, 0 if there is none, and the one that wants to
    /// pass.</summary>
    public static bool Refuses(long last, long ticket) => last != 0 && (last + ticket) % 2 == 0;

    private void ApplyPass(long number, string ticket)
    {
#pragma warning disable TANGO024 // On purpose, see above.
        if (Refuses(WrittenValue.NumberOf(_last), number)) throw Reject($"{ticket} may not follow {_last}");
#pragma warning restore TANGO024
        _last = ticket;
        Stumbles.At(number);
    }

    private string? ReadLast() => _last;
}
