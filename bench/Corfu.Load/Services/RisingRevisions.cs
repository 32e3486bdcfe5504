using System.Globalization;

namespace Corfu.Load;

/// <summary>Each caller's puts get rising revisions: an answer that was no put's is a failure.</summary>
internal sealed class RisingRevisions(int callers)
{
    private readonly long[] _last = new long[callers];

    public void Next(int caller, long revision)
    {
        if (revision <= _last[caller])
        {
            throw new CorfuException(string.Create(CultureInfo.InvariantCulture,
                $"A put got revision {revision} after {_last[caller]}."));
        }

        _last[caller] = revision;
    }
}
