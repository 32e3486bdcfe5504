namespace Corfu.Register;

/// <summary>A value of one slot's register: bytes that only the register's owner reads. Two values are equal when slot
/// and bytes are, so an owner has one encoding for each value.</summary>
/// <param name="slot">The register that the value is proposed for.</param>
/// <param name="bytes">Kept as they are: nothing else may change them.</param>
public sealed class RegisterValue(Epoch slot, ReadOnlyMemory<byte> bytes) : IEquatable<RegisterValue>
{
    public Epoch Slot => slot;

    public ReadOnlyMemory<byte> Bytes => bytes;

    public bool Equals(RegisterValue? other) =>
        other is not null && Slot == other.Slot && Bytes.Span.SequenceEqual(other.Bytes.Span);

    public override bool Equals(object? obj) => Equals(obj as RegisterValue);

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.Add(Slot);
        hash.AddBytes(Bytes.Span);
        return hash.ToHashCode();
    }

    public override string ToString() => $"{Slot}: {Bytes.Length} bytes";
}
