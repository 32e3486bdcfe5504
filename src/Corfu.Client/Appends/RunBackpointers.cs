using System.Collections.Immutable;
using System.Runtime.InteropServices;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>Backpointers inside a run of tokens: the run's own earlier positions first, then what stood before the run.</summary>
internal static class RunBackpointers
{
    public static ImmutableArray<LogPosition> Of(LogPosition first, int index, ImmutableArray<LogPosition> previous)
    {
        if (index == 0) return previous;
        var own = Math.Min(index, StreamHeader.MaxBackpointers);
        var pointers = new LogPosition[Math.Min(own + previous.Length, StreamHeader.MaxBackpointers)];
        for (var i = 0; i < own; i++) pointers[i] = first + (index - 1 - i);
        for (var i = own; i < pointers.Length; i++) pointers[i] = previous[i - own];
        return ImmutableCollectionsMarshal.AsImmutableArray(pointers);
    }
}
