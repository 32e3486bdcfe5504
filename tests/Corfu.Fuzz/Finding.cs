namespace Corfu.Fuzz;

/// <summary>An input that did what none may do.</summary>
public sealed record Finding(string Target, long Input, string What, byte[] Bytes)
{
    public override string ToString() =>
        $"FINDING {Target} input {Input}: {What}{Environment.NewLine}  {(Bytes.Length > 4096 ? $"{Bytes.Length} "
        + "bytes" : Convert.ToHexStringLower(Bytes))}";
}
