using Corfu;
using Tango.Playback;

namespace Tango.Model;

/// <summary>An object's view as published: it is not changed any more.</summary>
/// <param name="Owner">Whose view it is: slots are used again.</param>
/// <param name="View">Null: not hosted, or without views.</param>
/// <param name="LastWriteEnd">First position after the object's last write.</param>
internal readonly record struct FrozenView(HostedObject Owner, TangoObject? View, LogPosition LastWriteEnd,
    TangoObjectStoppedException? Stopped)
{
    public TangoObject Require(HostedObject hosted) =>
        Stopped is not null
            ? throw Stopped.Told
            : View ?? throw new TangoNotHostedException(hosted.Name);
}
