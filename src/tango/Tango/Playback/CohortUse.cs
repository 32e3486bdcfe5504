namespace Tango.Playback;

/// <summary>A hosted object that stays so until this is disposed, once.</summary>
/// <param name="openings">Null: the object is open for good.</param>
internal readonly struct CohortUse(HostedObject hosted, CohortOpenings? openings) : IDisposable
{
    public HostedObject Hosted => hosted;

    public void Dispose() => openings?.EndUse(hosted.Cohort);
}
