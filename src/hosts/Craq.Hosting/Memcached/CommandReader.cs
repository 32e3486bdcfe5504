using System.Buffers;

namespace Craq.Hosting.Memcached;

/// <summary>Cuts a connection's bytes into commands: a line, and for storage commands a data block behind it. The
/// memory that a connection holds grows with the bytes that have come, not with those that are announced.</summary>
internal sealed class CommandReader(int maxValue)
{
    private const int FirstBlock = 16 << 10;

    public const string BadData = "CLIENT_ERROR bad data chunk";
    public const string LineTooLong = "CLIENT_ERROR line too long";

    // The command whose data block is being read; null: a line is next.
    private TextCommand? _open;

    private byte[] _block = [];
    private int _filled;

    // Bytes of the block and its end that are to come.
    private int _left;

    // The bytes up to the next line's end are passed over: a line was too long, or a data block did not end where it
    // should.
    private bool _skipsLine;

    /// <summary>Takes bytes from the beginning of the buffer.</summary>
    /// <returns>The next command; null: more bytes are needed.</returns>
    public TextCommand? Read(ref ReadOnlySequence<byte> buffer)
    {
        while (true)
        {
            if (_skipsLine && !TrySkip(ref buffer)) return null;
            if (_open is not null) return TryBlock(ref buffer);
            if (buffer.PositionOf((byte)'\n') is not { } end)
            {
                if (buffer.Length <= TextParser.MaxLine) return null;
                _skipsLine = true;
                return TextCommand.Faulty(LineTooLong);
            }

            var bytes = buffer.Slice(0, end);
            buffer = buffer.Slice(buffer.GetPosition(1, end));
            if (bytes.Length > TextParser.MaxLine) return TextCommand.Faulty(LineTooLong);
            var command = TextParser.Parse(LineOf(bytes), maxValue);
            if (command.Length < 0) return command;
            Begin(command);
        }
    }

    // A line ends with \n; a \r before it is not part of it.
    private static ReadOnlySpan<byte> LineOf(ReadOnlySequence<byte> bytes)
    {
        ReadOnlySpan<byte> line = bytes.IsSingleSegment ? bytes.FirstSpan : bytes.ToArray();
        return line is [.., (byte)'\r'] ? line[..^1] : line;
    }

    // False: the line goes on behind the buffer.
    private bool TrySkip(ref ReadOnlySequence<byte> buffer)
    {
        var end = buffer.PositionOf((byte)'\n');
        buffer = buffer.Slice(end is { } at ? buffer.GetPosition(1, at) : buffer.End);
        _skipsLine = end is null;
        return !_skipsLine;
    }

    private void Begin(TextCommand command)
    {
        _open = command;
        _left = command.Length + 2;
        _filled = 0;
        _block = command.Error is null ? new byte[Math.Min(_left, FirstBlock)] : [];
    }

    private TextCommand? TryBlock(ref ReadOnlySequence<byte> buffer)
    {
        var command = _open!;
        var taken = (int)Math.Min(buffer.Length, _left);
        if (command.Error is null)
        {
            Grow(_filled + taken, command.Length + 2);
            buffer.Slice(0, taken).CopyTo(_block.AsSpan(_filled));
            _filled += taken;
        }

        _left -= taken;
        buffer = buffer.Slice(taken);
        if (_left > 0) return null;
        var block = _block;
        (_open, _block) = (null, []);
        if (command.Error is not null) return command;
        if (block[command.Length] == '\r' && block[command.Length + 1] == '\n')
            return command with { Value = block.AsMemory(0, command.Length) };
        // As in memcached: the rest of the line belongs to the wrong block.
        _skipsLine = block[command.Length + 1] != '\n';
        return TextCommand.Faulty(BadData, noReply: command.NoReply);
    }

    private void Grow(int needed, int most)
    {
        if (needed <= _block.Length) return;
        Array.Resize(ref _block, Math.Min(most, Math.Max(needed, _block.Length * 2)));
    }
}
