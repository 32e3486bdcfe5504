using Tango.Model;

namespace Tango.Playback;

/// <summary>A hosted object that stays so until this is disposed, once.</summary>
/// <param name="cohorts">Null: the object is open for good.</param>
internal readonly struct CohortUse(HostedObject hosted, HostedCohorts? cohorts) : IDisposable
{
    public HostedObject Hosted => hosted;

    public void Dispose() => cohorts?.EndUse(hosted.Cohort);
}
