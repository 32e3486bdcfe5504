using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// What the request's projection has on other units by now, migrated there, is given up: of the range, the positions whose remainder by
/// <see cref="Modulus"/> is named (R1). They are unwritten here afterwards. Only below the epoch's start.
/// </summary>
public sealed record ForgetRequest(Epoch Epoch, LogPosition From, LogPosition Until, int Modulus, ImmutableArray<int> Residues) : AckRequest(Epoch)
{
    public override Opcode Opcode => Opcode.Forget;

    public bool Names(LogPosition position) => position >= From && position < Until && Residues.Contains((int)(position.Offset % Modulus));

    public override void WriteBody(ref WireWriter w)
    {
        w.Position(From);
        w.Position(Until);
        w.Int32(Modulus);
        w.Int32(Residues.Length);
        foreach (var residue in Residues) w.Int32(residue);
    }

    public static ForgetRequest Read(Epoch epoch, ref WireReader r)
    {
        var (from, until, modulus) = (r.Position(), r.Position(), r.Int32());
        if (until < from || until.Offset - from.Offset > MessageLimits.MaxItems) throw new MalformedDataException("A range to be forgotten is none, or too long.");
        if (modulus is < 1 or > MessageLimits.MaxItems) throw new MalformedDataException("A modulus is out of range.");
        var residues = ImmutableArray.CreateBuilder<int>(r.Count(4, modulus));
        for (var i = residues.Capacity; i > 0; i--)
        {
            var residue = r.Int32();
            residues.Add(residue >= 0 && residue < modulus ? residue : throw new MalformedDataException("A remainder is out of range."));
        }

        return new ForgetRequest(epoch, from, until, modulus, residues.DrainToImmutable());
    }
}
