namespace Salus.NbdHost;

public enum VolumeVerb
{
    Read,
    Write,
    Clear,
    Flush,
    Describe,
}

/// <summary>A call of a volume.</summary>
public sealed record VolumeCall(VolumeVerb Verb, long First, long Blocks, bool Durable);
