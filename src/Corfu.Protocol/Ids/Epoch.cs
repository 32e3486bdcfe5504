namespace Corfu.Protocol;

/// <summary>Version of the projection; every request carries one. Epochs start at 1; 0 means "none yet".</summary>
public readonly record struct Epoch(long Value) : IComparable<Epoch>
{
    public static readonly Epoch None;
    public static readonly Epoch First = new(1);

    public Epoch Next => new(Value + 1);

    public int CompareTo(Epoch other) => Value.CompareTo(other.Value);

    public static bool operator <(Epoch a, Epoch b) => a.Value < b.Value;
    public static bool operator >(Epoch a, Epoch b) => a.Value > b.Value;
    public static bool operator <=(Epoch a, Epoch b) => a.Value <= b.Value;
    public static bool operator >=(Epoch a, Epoch b) => a.Value >= b.Value;

    public override string ToString() => $"e{Value}";
}
